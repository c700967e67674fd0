const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const DIGITS = new Map([...ALPHABET].map((character, digit) => [character, digit]));

/** Decodes Z85 (protocol: Deletion Vectors): five characters stand for four bytes. Throws `RangeError` for text that is not. */
export function decodeBase85(text: string): Uint8Array {
  if (text.length % 5 !== 0) throw new RangeError('base85 text whose length is no multiple of five');
  const bytes = new Uint8Array((text.length / 5) * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < text.length; i += 5) {
    let value = 0;
    for (let k = 0; k < 5; k++) {
      const digit = DIGITS.get(text[i + k]!);
      if (digit === undefined)
        throw new RangeError(`character ${JSON.stringify(text[i + k])} in base85 text`);
      value = value * 85 + digit;
    }
    if (value >= 2 ** 32) throw new RangeError('base85 group above 2^32');
    view.setUint32((i / 5) * 4, value);
  }
  return bytes;
}

/** Encodes bytes, a multiple of four of them, as Z85. */
export function encodeBase85(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let value = view.getUint32(at);
    let group = '';
    for (let k = 0; k < 5; k++) {
      group = ALPHABET[value % 85]! + group;
      value = Math.floor(value / 85);
    }
    text += group;
  }
  return text;
}
