import { createRequire } from 'node:module';

const manifest = createRequire(import.meta.url)('../package.json') as { version: string };

/** The version of this library, as in its package. */
export const VERSION: string = manifest.version;

/** How this library names itself in `commitInfo.engineInfo`. */
export const ENGINE_INFO = `intervale/${VERSION}`;
