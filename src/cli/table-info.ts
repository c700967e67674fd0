import type { ProtocolAction } from '../log/actions.js';
import { typeText } from '../schema/type-text.js';
import type { State } from '../snapshot/state.js';
import { liveAmount } from '../write/plan.js';
import { bytesText, countText } from './render/bytes.js';
import { isoTime } from './render/json.js';
import { pairLines } from './render/table.js';
import type { Paint } from './terminal.js';

/** What `info` tells (spec/schema/info.json). */
export interface InfoDocument {
  readonly url: string;
  readonly id: string;
  readonly name?: string;
  readonly description?: string;
  readonly version: number;
  readonly timestamp: string;
  readonly createdAt?: string;
  readonly files: number;
  /** Left out where a file has no count of rows. */
  readonly rows?: number;
  readonly bytes: number;
  readonly partitionColumns: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string; readonly nullable: boolean }[];
  readonly protocol: ProtocolAction;
  readonly properties: Readonly<Record<string, string>>;
}

/** Reads the log alone. */
export async function infoDocument(url: string, state: State, signal: AbortSignal): Promise<InfoDocument> {
  const { metadata, schema, files } = state;
  await files.load({ statistics: true, actions: true }, { signal });
  const { rows, bytes } = liveAmount(state, Array.from(files.ids()));
  return {
    url,
    id: metadata.id,
    name: metadata.name ?? undefined,
    description: metadata.description ?? undefined,
    version: state.version,
    timestamp: isoTime(state.timestamp),
    createdAt: typeof metadata.createdTime === 'number' ? isoTime(metadata.createdTime) : undefined,
    files: files.count,
    rows,
    bytes,
    partitionColumns: metadata.partitionColumns,
    columns: schema.fields.map(({ name, dataType, nullable }) => ({
      name,
      type: typeText(dataType),
      nullable,
    })),
    protocol: state.protocol,
    properties: metadata.configuration,
  };
}

/** The document for people. */
export function infoLines(info: InfoDocument, paint: Paint): string[] {
  const { protocol } = info;
  const features = [
    ...new Set([...(protocol.readerFeatures ?? []), ...(protocol.writerFeatures ?? [])]),
  ].sort();
  const properties = Object.entries(info.properties).map(([key, value]) => `${key} = ${value}`);
  const average = info.files > 0 ? `, ${bytesText(info.bytes / info.files)} on average` : '';
  return pairLines(
    [
      ['table', info.url],
      ['name', info.name],
      ['description', info.description],
      ['id', info.id],
      ['version', `${info.version}, ${info.timestamp}`],
      ['rows', info.rows === undefined ? undefined : countText(info.rows)],
      ['files', `${countText(info.files)} (${bytesText(info.bytes)}${average})`],
      [
        'columns',
        info.columns
          .map(({ name, type, nullable }) => `${name} ${type}${nullable ? '' : ' not null'}`)
          .join('\n'),
      ],
      ['partitioned by', info.partitionColumns.join(', ') || undefined],
      ['protocol', `reader ${protocol.minReaderVersion}, writer ${protocol.minWriterVersion}`],
      ['features', features.join(', ') || undefined],
      ['properties', properties.join('\n') || undefined],
    ],
    paint,
  );
}
