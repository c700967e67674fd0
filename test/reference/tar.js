const BLOCK = 512;

/** The regular files of a tar archive: ustar and GNU long names, pax paths. */
export function unpackTar(archive) {
  const files = [];
  let longName;
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) break;
    const size = Number.parseInt(text(header, 124, 12).trim() || '0', 8);
    const bytes = archive.subarray(at + BLOCK, at + BLOCK + size);
    const type = String.fromCharCode(header[156] || 48);
    if (type === 'L') longName = text(bytes, 0, size);
    else if (type === 'x') longName = /(?:^|\n)\d+ path=([^\n]*)\n/.exec(Buffer.from(bytes).toString())?.[1];
    else {
      const prefix = text(header, 345, 155);
      const name = longName ?? (prefix ? `${prefix}/` : '') + text(header, 0, 100);
      if (type === '0') files.push({ name: name.replace(/^\.\//, ''), bytes });
      longName = undefined;
    }
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  return files;
}

function text(bytes, start, length) {
  const field = Buffer.from(bytes.subarray(start, start + length));
  const end = field.indexOf(0);
  return field.subarray(0, end < 0 ? length : end).toString();
}
