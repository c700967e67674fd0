import type { HistoryEntry } from '../log/history.js';
import { factsOfCommit, type RunFacts } from '../pipeline/facts.js';
import { bytesText, counted } from './render/bytes.js';
import { isoTime } from './render/json.js';
import { oneLine, tableLines } from './render/table.js';
import type { Paint } from './terminal.js';

/** One version as `history --json` tells it (spec/schema/history.json); what the writer did not say is left out. */
export function historyRecord({ version, timestamp, commitInfo }: HistoryEntry): Record<string, unknown> {
  return {
    version,
    timestamp: isoTime(timestamp),
    operation: commitInfo?.operation,
    operationParameters: commitInfo?.operationParameters,
    operationMetrics: commitInfo?.operationMetrics,
    engineInfo: commitInfo?.engineInfo,
    txnId: commitInfo?.txnId,
    isBlindAppend: commitInfo?.isBlindAppend,
    userMetadata: commitInfo?.userMetadata,
  };
}

/** The versions for people. */
export function historyLines(entries: readonly HistoryEntry[], paint: Paint): string[] {
  const runs = entries.map(({ commitInfo }) => factsOfCommit(commitInfo));
  const hasRuns = runs.some((run) => run !== undefined);
  const rows = entries.map((entry, i) => [
    String(entry.version),
    isoTime(entry.timestamp),
    oneLine(String(entry.commitInfo?.operation ?? '-')),
    oneLine(changeText(entry.commitInfo?.operationMetrics)),
    ...(hasRuns ? [oneLine(runText(runs[i]))] : []),
    oneLine(String(entry.commitInfo?.engineInfo ?? '-')),
  ]);
  const columns = [
    { title: 'version', align: 'right' as const },
    { title: 'time' },
    { title: 'operation' },
    { title: 'change' },
    ...(hasRuns ? [{ title: 'run' }] : []),
    { title: 'engine' },
  ];
  return tableLines(columns, rows, paint);
}

/** Which pipeline's run a version is: `sales 2024-01-05 #2`. */
function runText(run: RunFacts | undefined): string {
  if (!run) return '-';
  return `${run.pipeline} ${run.label} ${run.mode === 'undo' ? 'undo ' : ''}#${run.attempt}`;
}

/** The metrics that engines have in common. */
function changeText(metrics: unknown): string {
  if (typeof metrics !== 'object' || metrics === null) return '-';
  const numbers = new Map(Object.entries(metrics).map(([key, value]) => [key, Number(value)]));
  const of = (...keys: string[]): number | undefined =>
    keys.map((key) => numbers.get(key)).find((value) => value !== undefined && Number.isFinite(value));
  const rows = of('numOutputRows', 'num_added_rows', 'numInsertedRows');
  const files = of('numFiles', 'numAddedFiles', 'num_added_files', 'numTargetFilesAdded');
  const bytes = of('numOutputBytes');
  const removed = of('numRemovedFiles', 'num_removed_files', 'numTargetFilesRemoved');
  const parts = [
    rows === undefined ? undefined : `+${counted(rows, 'row')}`,
    files === undefined ? undefined : `+${counted(files, 'file')}`,
    bytes === undefined ? undefined : bytesText(bytes),
    removed === undefined || removed === 0 ? undefined : `-${counted(removed, 'file')}`,
  ].filter((part) => part !== undefined);
  return parts.join(' ') || '-';
}
