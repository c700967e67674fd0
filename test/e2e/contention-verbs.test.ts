import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createTable, openTable } from '../../src/index.js';
import { ddlOf } from '../support/model/cells.js';
import { generate, type Sequence } from '../support/model/generate.js';
import { verbOf } from '../support/model/run-here.js';
import { expectSame, linesOf, readLines, replayed } from '../support/model/run-sequence.js';
import { applyOperation, isSkipped, type Model, type Operation } from '../support/model/steps.js';
import { opened, places } from '../support/places.js';
import { runProcess } from '../support/processes.js';

const WRITERS = 4;
const VERBS = 12;
/** Other sequences on demand. */
const SEED = Number(process.env.DIFF_SEEDS ?? 1);

interface Told {
  readonly writer: number;
  readonly work: number;
  readonly status?: 'committed' | 'unchanged' | 'skipped';
  readonly version?: number;
  readonly code?: string;
}

const TABLE = { columns: ['id', 'n', 'd', 'm', 's', 'p'], partitionBy: ['p'] } as const;
const LAYOUTS: readonly (readonly [string, Sequence['properties']])[] = [
  ['whole files', {}],
  [
    'deletion vectors and recorded changes',
    { 'delta.enableDeletionVectors': 'true', 'delta.enableChangeDataFeed': 'true' },
  ],
];

describe.each(await places())('on %s', (_, open) => {
  const here = opened(open, { workers: 1 });

  test.skipIf(!open).each(LAYOUTS)(
    'processes with mixed verbs on one table, by %s: as if one after the other',
    async (name, properties) => {
      const { place, runtime } = here;
      const url = place.url(`verbs-${name.length}`);
      await createTable(url, {
        schema: ddlOf(TABLE.columns),
        partitionBy: TABLE.partitionBy,
        properties,
        runtime,
      });
      const table = { ...TABLE, properties };
      const works = Array.from(
        { length: WRITERS },
        (_, writer) =>
          generate(SEED * 1000 + writer, { steps: VERBS, table, verbsOnly: true })
            .steps as readonly Operation[],
      );
      const told = await Promise.all(
        works.map((work, writer) =>
          runProcess<Told>('verbs-process.js', {
            url,
            writer,
            work: work.map((operation) => ({
              verb: verbOf(operation),
              rows: 'rows' in operation ? operation.rows : undefined,
              txn: operation.token && { appId: operation.token.app, version: operation.token.version },
            })),
            s3: place.s3,
          }),
        ),
      );
      const results = told.flat();
      expect(results).toHaveLength(WRITERS * VERBS);
      expect(results.filter(({ code }) => code === 'COMMIT_CONFLICT')).toEqual([]);

      const opened = await openTable(url, { runtime });
      const committed = new Map<number, string>();
      for await (const { version, commitInfo } of opened.history()) {
        if (version > 0) committed.set(version, String(commitInfo?.userMetadata));
      }
      const succeeded = results.filter(({ status }) => status === 'committed');
      expect([...committed].sort(([a], [b]) => a - b)).toEqual(
        succeeded
          .map(({ version, writer, work }) => [version, `${writer}/${work}`])
          .sort(([a], [b]) => Number(a) - Number(b)),
      );

      const operationOf = ({ writer, work }: Pick<Told, 'writer' | 'work'>): Operation =>
        works[writer]![work]!;
      const models: Model[] = [{ columns: TABLE.columns, partitionBy: TABLE.partitionBy, rows: [] }];
      for (const result of succeeded.toSorted((a, b) => a.version! - b.version!)) {
        const outcome = applyOperation(models.at(-1)!, operationOf(result));
        if ('refused' in outcome)
          throw new Error(`${JSON.stringify(result)} should have been refused: ${outcome.refused}`);
        models.push(outcome);
      }
      for (const [version, model] of models.entries()) {
        expectSame(version, 'rows of the version', await readLines(opened, version), linesOf(model));
      }
      for (const result of results.filter(({ status }) => status === 'unchanged')) {
        const before = models[result.version!]!;
        const outcome = applyOperation(before, operationOf(result));
        expect('refused' in outcome ? outcome : linesOf(outcome), JSON.stringify(result)).toEqual(
          linesOf(before),
        );
      }
      for (const result of results.filter(({ status }) => status === 'skipped')) {
        expect(isSkipped(models[result.version!]!, operationOf(result)), JSON.stringify(result)).toBe(true);
      }
      for (const result of results.filter(({ code }) => code !== undefined)) {
        const outcomes = models.map((model) => applyOperation(model, operationOf(result)));
        expect(
          outcomes.some((each) => 'refused' in each && each.refused === result.code),
          JSON.stringify(result),
        ).toBe(true);
      }
      if (properties['delta.enableChangeDataFeed']) {
        expectSame(
          models.length,
          'rows by the changes',
          await replayed(opened, models.at(-1)!),
          linesOf(models.at(-1)!),
        );
      }
      if (!place.s3) expect(await leftOver(url)).toEqual({ files: [], vectors: 0 });
    },
  );
});

/** What no commit of a local table names, data files and how many files of vectors: what was staged for work that was done again is to be gone. */
async function leftOver(folder: string): Promise<{ files: string[]; vectors: number }> {
  const names = await readdir(folder, { recursive: true });
  const named = new Set<string>();
  const vectors = new Set<string>();
  for (const name of names.filter((each) => /^_delta_log\/\d+\.json$/.test(each))) {
    for (const line of (await readFile(join(folder, name), 'utf8')).split('\n').filter(Boolean)) {
      const { add, cdc } = JSON.parse(line) as Record<'add' | 'cdc', NamedFile | undefined>;
      for (const file of [add, cdc]) if (file) named.add(decodeURIComponent(file.path));
      if (add?.deletionVector?.storageType === 'u') vectors.add(add.deletionVector.pathOrInlineDv);
    }
  }
  const isData = (name: string): boolean => name.endsWith('.parquet') && !name.startsWith('_delta_log/');
  return {
    files: names.filter((name) => isData(name) && !named.has(name)),
    vectors: names.filter((name) => name.endsWith('.bin')).length - vectors.size,
  };
}

interface NamedFile {
  readonly path: string;
  readonly deletionVector?: { readonly storageType: string; readonly pathOrInlineDv: string };
}
