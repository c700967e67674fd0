import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isTableError, TableError } from '../../errors.js';
import type { Pipeline } from '../../pipeline/pipeline.js';
import { thrownAt } from '../../pipeline/place.js';
import { messageOf, PipelineError, UsageError } from '../errors.js';
import type { Session } from '../session.js';

/** Which pipeline of a file or table is meant. */
export interface PipelineFlags {
  readonly pipeline?: string;
}

const FILE = /\.[cm]?[jt]s$/;

/**
 * The pipeline that a file exports, on the session's runtime; or, for a table, one that its own files tell of. Files may be TypeScript and import `intervale`
 * without it being installed. Throws `INVALID_INPUT` where there is none, or several and none is named.
 */
export async function loadPipeline(
  session: Session,
  source: string,
  flags: PipelineFlags,
): Promise<Pipeline> {
  const runtime = await session.runtime();
  if (FILE.test(source)) {
    const found = await pipelinesOfFile(source);
    return pick(found, source, flags.pipeline).withRuntime(runtime);
  }
  const { pipelinesOfTable } = await import('../../pipeline/from-table.js');
  return pick(await pipelinesOfTable(source, runtime), source, flags.pipeline);
}

/** The same for what produces rows, which a table cannot. Throws `UsageError` where it is not a file. */
export async function loadPipelineFile(
  session: Session,
  file: string,
  flags: PipelineFlags,
): Promise<Pipeline> {
  if (FILE.test(file)) return loadPipeline(session, file, flags);
  throw new UsageError(
    `${file} is no TypeScript or JavaScript file. Rows are produced by the file that defines their pipeline.`,
    { file },
  );
}

async function pipelinesOfFile(file: string): Promise<Pipeline[]> {
  if (!existsSync(file))
    throw new TableError('INVALID_INPUT', `There is no pipeline file ${file}.`, { file });
  const [{ createJiti }, intervale, temporal] = await Promise.all([
    import('jiti'),
    import('../../index.js'),
    import('temporal-polyfill'),
  ]);
  const url = pathToFileURL(resolve(file)).href;
  const jiti = createJiti(url, {
    fsCache: false,
    moduleCache: false,
    interopDefault: false,
    virtualModules: { intervale, 'temporal-polyfill': temporal },
  });
  let module: unknown;
  try {
    module = await jiti.import(url);
  } catch (error) {
    if (isTableError(error)) throw error;
    throw new TableError(
      'INVALID_INPUT',
      `The pipeline file ${file} could not be loaded: ${reasonOf(error)}`,
      { file },
      error,
    );
  }
  // One pipeline may be exported twice, by a name and as the default.
  return [...new Set(Object.values(module as Record<string, unknown>).filter(isPipeline))];
}

/** In one line, with the place. The loader adds a list of the files that required what is missing. */
function reasonOf(error: unknown): string {
  const text = messageOf(error)
    .replace(/\nRequire stack:[\s\S]*/, '')
    .replace(/\s*\n\s*/g, ' ');
  const place = thrownAt(error);
  return place === undefined || text.includes(place) ? text : `${text} (at ${place})`;
}

/** Runs what calls the pipeline's own code. Throws what that throws as `PipelineError`, which says where. */
export async function calling<T>(file: string, task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    const place = thrownAt(error);
    if (isTableError(error) || place === undefined) throw error;
    throw new PipelineError(`${messageOf(error)} (at ${place})`, { file, place }, error);
  }
}

/** By shape: a file may bring its own copy of the library. */
function isPipeline(value: unknown): value is Pipeline {
  return typeof value === 'object' && value !== null && 'definition' in value && 'withRuntime' in value;
}

function pick(pipelines: readonly Pipeline[], source: string, wanted: string | undefined): Pipeline {
  const names = pipelines.map(({ name }) => name);
  const context = { source, pipelines: names };
  if (names.length === 0) {
    const hint = FILE.test(source) ? 'Export what definePipeline gives.' : 'None has run there yet.';
    throw new TableError('INVALID_INPUT', `${source} has no pipelines. ${hint}`, context);
  }
  if (wanted === undefined && pipelines.length === 1) return pipelines[0]!;
  const found = pipelines.filter(({ name }) => name === wanted);
  if (found.length === 1) return found[0]!;
  throw new TableError(
    'INVALID_INPUT',
    wanted === undefined
      ? `${source} has several pipelines: ${names.join(', ')}. Name one with --pipeline.`
      : `${source} has ${found.length === 0 ? 'no pipeline' : 'several pipelines'} named ${wanted}, but ${names.join(', ')}.`,
    context,
  );
}
