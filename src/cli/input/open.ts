import type { Readable } from 'node:stream';
import type { Context } from '../../runtime/context.js';
import { openBytes } from './bytes.js';
import { formatOf, type InputFormat } from './format.js';
import type { Input, TextOptions } from './source.js';

export interface OpenOptions extends TextOptions {
  readonly format: InputFormat | undefined;
  readonly stdin: Readable;
  readonly signal: AbortSignal;
}

/** Opens an input by its format. Throws `INVALID_INPUT` where there is no such file, or its name does not say what it is. */
export async function openInput(ctx: Context, name: string, options: OpenOptions): Promise<Input> {
  switch (formatOf(name, options.format)) {
    case 'parquet': {
      const { openParquet } = await import('./parquet.js');
      return openParquet(ctx, name, options.stdin, options.signal);
    }
    case 'arrow': {
      const { openArrow } = await import('./arrow.js');
      return openArrow(name, options.stdin, options.signal);
    }
    case 'csv': {
      const { openCsv } = await import('./csv.js');
      return openCsv(await openBytes(name, options.stdin), options);
    }
    case 'ndjson': {
      const { openNdjson } = await import('./ndjson.js');
      return openNdjson(await openBytes(name, options.stdin), options);
    }
  }
}
