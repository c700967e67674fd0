import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Where the reference tables are, by `REFERENCE_DIR` or beside the clone. */
const DIR = process.env.REFERENCE_DIR ?? fileURLToPath(new URL('../../../shared/reference', import.meta.url));

/** The folder of reference tables, or undefined where there is none: tests then skip and say so. In CI a missing folder is a failure. */
export function referenceDir(): string | undefined {
  if (existsSync(`${DIR}/manifest.json`)) return DIR;
  if (process.env.CI === 'true')
    throw new Error(`There are no reference tables at ${DIR}; set REFERENCE_DIR.`);
  console.warn(`Skipped: there are no reference tables at ${DIR}; set REFERENCE_DIR.`);
  return undefined;
}
