import { fileURLToPath } from 'node:url';

const LIBRARY = fileURLToPath(new URL('../', import.meta.url));

/**
 * Where the code of a pipeline threw an error: `/path/pipeline.ts:6:21`. Undefined where it was this library that threw, or where the error does not say.
 * Frames of Node and of packages that the pipeline uses are passed over.
 */
export function thrownAt(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  for (const line of error.stack?.split('\n') ?? []) {
    const place = /^\s+at (?:.*\()?((?:file:\/\/)?\/?[^()]+:\d+:\d+)\)?$/.exec(line)?.[1];
    if (place === undefined || /(^|async )node:/.test(place)) continue;
    const path = pathOf(place.replace(/^async /, ''));
    if (path.startsWith(LIBRARY)) return undefined;
    if (!/[\\/]node_modules[\\/]/.test(path)) return path;
  }
  return undefined;
}

/** Modules that Node loads itself are named by URL, those of jiti by path. */
function pathOf(place: string): string {
  if (!place.startsWith('file:')) return place;
  const [, url, position] = /^(.*?)(:\d+:\d+)$/.exec(place)!;
  return `${fileURLToPath(url!)}${position}`;
}
