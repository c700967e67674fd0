import { hiddenColumns, withHiddenColumns } from '../commit/row-ids.js';
import { TableError } from '../errors.js';
import { findFeature } from '../log/feature-table.js';
import { assertProperties, PROPERTY_NAMES, tableProperties } from '../log/properties.js';
import { namedAfterThemselves } from '../schema/evolution-mapping.js';
import { columnMappingMode } from '../schema/mapping.js';
import type { AlterBase, Altered, Draft, SetProperties, UnsetProperties } from './alteration.js';
import { withFeatures } from './protocol-upgrade.js';

const FEATURE = 'delta.feature.';
const MODE = 'delta.columnMapping.mode';
const ENABLED_VERSION = 'delta.inCommitTimestampEnablementVersion';
const ENABLED_TIMESTAMP = 'delta.inCommitTimestampEnablementTimestamp';
const ROW_TRACKING = 'delta.enableRowTracking';
/** Columns of the change data feed. */
const FEED_COLUMNS = ['_change_type', '_commit_version', '_commit_timestamp'];

/**
 * Throws `INVALID_INPUT` for a name or text that is none, for what the table keeps itself, and for a change of column mapping that files do not allow;
 * `UNSUPPORTED_FEATURE` for what cannot be written here, or not for rows that are there.
 */
export function setProperties(
  draft: Draft,
  { setProperties: given }: SetProperties,
  base: AlterBase,
): Altered {
  const properties = Object.fromEntries(Object.entries(given).filter(([name]) => !name.startsWith(FEATURE)));
  for (const name of Object.keys(given)) assertYours(name);
  assertProperties(properties);
  const withThem = { ...draft, configuration: { ...draft.configuration, ...properties } };
  const features = Object.entries(given).filter(([name]) => name.startsWith(FEATURE));
  const made = features.reduce(
    (each, [name, text]) => withFeature(each, name.slice(FEATURE.length), text, base),
    consequences(draft, withThem, base),
  );
  return {
    draft: made,
    operation: 'SET TBLPROPERTIES',
    parameters: { properties: JSON.stringify(given) },
    told: `set ${Object.entries(given)
      .map(([name, text]) => `${name} = ${text}`)
      .join(', ')}`,
  };
}

/** A property that is not set counts as unset. Throws `INVALID_INPUT` for what the table keeps itself, a name that is none, and column mapping. */
export function unsetProperties(
  draft: Draft,
  { unsetProperties: names }: UnsetProperties,
  base: AlterBase,
): Altered {
  const configuration: Record<string, string> = { ...draft.configuration };
  for (const name of names) {
    assertYours(name);
    const isSet = Object.hasOwn(configuration, name);
    if (!isSet && name.startsWith('delta.') && !PROPERTY_NAMES.includes(name))
      throw refused(`'${name}' is not a table property, nor is it set.`, name);
    delete configuration[name];
  }
  return {
    draft: consequences(draft, { ...draft, configuration }, base),
    operation: 'UNSET TBLPROPERTIES',
    parameters: { properties: JSON.stringify(names), ifExists: true },
    told: `unset ${names.join(', ')}`,
  };
}

const KEPT_BY_THE_TABLE = ['delta.columnMapping.maxColumnId', ENABLED_VERSION, ENABLED_TIMESTAMP];

function assertYours(name: string): void {
  if (name.toLowerCase().startsWith('delta.constraints.'))
    throw refused(`'${name}' is a constraint: add and drop it as one.`, name);
  if (KEPT_BY_THE_TABLE.includes(name) || name.startsWith('delta.rowTracking.'))
    throw refused(`'${name}' is kept by the table itself.`, name);
}

/** What other properties and the schema owe to those that changed. */
function consequences(before: Draft, after: Draft, base: AlterBase): Draft {
  return feed(
    rowTracking(inCommitTimestamps(columnMapping(before, after, base), before, base), before, base),
  );
}

/** Files that are there name columns as the table does now; they have no field ids (protocol: Column Mapping). */
function columnMapping(before: Draft, after: Draft, base: AlterBase): Draft {
  const [from, to] = [columnMappingMode(before, before.protocol), columnMappingMode(after)];
  if (from === to) return after;
  if (from !== 'none' || to !== 'name') {
    throw new TableError(
      'INVALID_INPUT',
      `The column mapping of ${base.url} cannot be changed from ${from} to ${to}; only from none to name.`,
      { url: base.url, property: MODE, from, to },
    );
  }
  const features = ['columnMapping'];
  const needed = {
    minReaderVersion: 3,
    minWriterVersion: 7,
    readerFeatures: features,
    writerFeatures: features,
  };
  return {
    ...after,
    schema: namedAfterThemselves(after.schema),
    protocol: withFeatures(after.protocol, needed),
  };
}

/** Since when they are there is told beside them (protocol: Writer Requirements for In-Commit Timestamps). */
function inCommitTimestamps(after: Draft, before: Draft, base: AlterBase): Draft {
  const was = tableProperties(before.configuration).inCommitTimestamps;
  const is = tableProperties(after.configuration).inCommitTimestamps;
  if (was === is) return after;
  const { [ENABLED_VERSION]: _v, [ENABLED_TIMESTAMP]: _t, ...rest } = after.configuration;
  const since = { [ENABLED_VERSION]: String(base.version), [ENABLED_TIMESTAMP]: String(base.timestamp) };
  return { ...after, configuration: is ? { ...rest, ...since } : rest };
}

/** Every row has an id where rows are tracked; those that are there would have none. */
function rowTracking(after: Draft, before: Draft, base: AlterBase): Draft {
  const isOn = after.configuration[ROW_TRACKING]?.toLowerCase() === 'true';
  if (!isOn || hiddenColumns(before)) return after;
  if (base.hasFiles) throw needsEmpty('rowTracking', base.url);
  return { ...after, configuration: withHiddenColumns(after.configuration, base.uuid) };
}

function needsEmpty(feature: string, url: string): TableError {
  return new TableError(
    'UNSUPPORTED_FEATURE',
    `The feature ${feature} cannot be given to ${url} here, because it has files: their rows would need ids. Create the table with it, or use an engine that can.`,
    { url, features: [{ feature, blocks: 'write', reason: 'the table has files' }] },
  );
}

function feed(draft: Draft): Draft {
  if (!/^true$/i.test(draft.configuration['delta.enableChangeDataFeed'] ?? '')) return draft;
  const taken = draft.schema.fields.find(({ name }) => FEED_COLUMNS.includes(name.toLowerCase()));
  if (!taken) return draft;
  throw new TableError(
    'INVALID_SCHEMA',
    `The change data feed has a column '${taken.name}' of its own, so the table cannot have one.`,
    { column: taken.name },
  );
}

function withFeature(draft: Draft, name: string, text: string, base: AlterBase): Draft {
  if (text !== 'supported') throw refused(`A feature is 'supported'; got '${text}'.`, `${FEATURE}${name}`);
  const feature = findFeature(name);
  if (feature === undefined || feature.write === 'no') {
    throw new TableError('UNSUPPORTED_FEATURE', `The feature '${name}' cannot be written here.`, {
      url: base.url,
      features: [
        { feature: name, blocks: 'write', reason: feature?.note ?? 'this library does not know it' },
      ],
    });
  }
  if (name === 'rowTracking' && base.hasFiles) throw needsEmpty(name, base.url);
  const names = name === 'rowTracking' ? [name, 'domainMetadata'] : [name];
  const readerFeatures = feature.kind === 'reader-writer' ? names : [];
  const needed =
    readerFeatures.length > 0
      ? { minReaderVersion: 3, minWriterVersion: 7, readerFeatures, writerFeatures: names }
      : { minReaderVersion: 1, minWriterVersion: 7, writerFeatures: names };
  return { ...draft, protocol: withFeatures(draft.protocol, needed) };
}

function refused(message: string, property: string): TableError {
  return new TableError('INVALID_INPUT', message, { property });
}
