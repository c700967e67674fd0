import type { SchemaFacts } from './schema-facts.js';

/** What the library can do with a table whose protocol lists a feature: always, never, or only while the feature is not in use. */
export type FeatureSupport = 'yes' | 'no' | 'inactive';

/** One table feature (protocol: Valid Feature Names in Table Features). */
export interface Feature {
  readonly kind: 'reader-writer' | 'writer';
  readonly read: 'yes' | 'no';
  /** Appending and overwriting. */
  readonly write: FeatureSupport;
  /** Checkpoints and clean-up of what no version needs. */
  readonly maintain: FeatureSupport;
  /** The reader and writer versions below 3 and 7 that imply it. */
  readonly legacyReader?: number;
  readonly legacyWriter?: number;
  /** What makes it active on a table that supports it, in words. */
  readonly activeWhen: string;
  /** True when the metadata puts it to use. */
  readonly active: (use: FeatureUse) => boolean;
  readonly note?: string;
}

/** What decides whether a feature is active. */
export interface FeatureUse {
  readonly properties: Readonly<Record<string, string>>;
  readonly schema: SchemaFacts;
}

const always = () => true;
const never = () => false;

function property(name: string): Pick<Feature, 'activeWhen' | 'active'> {
  return { activeWhen: `\`${name}\` is true`, active: ({ properties }) => isTrue(properties, name) };
}

function fieldKey(key: string): Pick<Feature, 'activeWhen' | 'active'> {
  return { activeWhen: `a column has \`${key}\``, active: ({ schema }) => schema.metadataKeys.has(key) };
}

function columnType(type: string): Pick<Feature, 'activeWhen' | 'active'> {
  return { activeWhen: `a column is of type ${type}`, active: ({ schema }) => schema.types.has(type) };
}

const LISTED = { activeWhen: 'it is listed', active: always };
const HARMLESS = { activeWhen: 'it is listed; appends and overwrites need nothing for it', active: never };

const TYPE_WIDENING: Feature = {
  kind: 'reader-writer',
  read: 'yes',
  write: 'yes',
  maintain: 'yes',
  activeWhen: '`delta.enableTypeWidening` is true or a column has `delta.typeChanges`',
  active: ({ properties, schema }) =>
    isTrue(properties, 'delta.enableTypeWidening') || schema.metadataKeys.has('delta.typeChanges'),
  note: 'Types are widened where the property is true, when a write or `alter` says so; every change stays recorded with its column.',
};

const IN_COMMIT_TIMESTAMP: Feature = {
  kind: 'writer',
  read: 'yes',
  write: 'yes',
  maintain: 'yes',
  ...property('delta.enableInCommitTimestamps'),
  note: 'Each commit then carries `inCommitTimestamp` in its first action, greater than that of the commit before.',
};

const VARIANT: Feature = {
  kind: 'reader-writer',
  read: 'yes',
  write: 'inactive',
  maintain: 'yes',
  ...columnType('variant'),
};

const VARIANT_SHREDDING: Feature = {
  kind: 'reader-writer',
  read: 'yes',
  write: 'yes',
  maintain: 'yes',
  ...property('delta.enableVariantShredding'),
  note: 'Shredding is a choice of the writer; none is written.',
};

const CATALOG: Feature = {
  kind: 'reader-writer',
  read: 'no',
  write: 'no',
  maintain: 'no',
  ...LISTED,
  note: 'Only the catalog knows the newest version; the log in storage may be behind.',
};

function icebergCompat(version: string): Feature {
  return {
    kind: 'writer',
    read: 'yes',
    write: 'inactive',
    maintain: 'inactive',
    ...property(`delta.enableIcebergCompat${version}`),
  };
}

/** Every feature that this library knows, in the order of the page made from it. What is not here is refused by name. */
export const FEATURES: Readonly<Record<string, Feature>> = {
  appendOnly: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    legacyWriter: 2,
    ...property('delta.appendOnly'),
    note: 'Appends go on; whatever removes rows is refused.',
  },
  invariants: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    legacyWriter: 2,
    ...fieldKey('delta.invariants'),
    note: 'Rows for which an invariant is not TRUE are refused.',
  },
  checkConstraints: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    legacyWriter: 3,
    activeWhen: 'there is a property `delta.constraints.*`',
    active: ({ properties }) => Object.keys(properties).some((key) => key.startsWith('delta.constraints.')),
    note: 'Rows for which a constraint is not TRUE are refused; a table with a constraint that cannot be evaluated here is not written.',
  },
  changeDataFeed: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    legacyWriter: 4,
    ...property('delta.enableChangeDataFeed'),
    note: 'Writes that change rows of files write change data files; the rest is told by the files added and removed.',
  },
  generatedColumns: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    legacyWriter: 4,
    ...fieldKey('delta.generationExpression'),
    note: 'Computed where a row leaves them out, compared where it does not; a table with an expression that cannot be evaluated here is not written.',
  },
  columnMapping: {
    kind: 'reader-writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    legacyReader: 2,
    legacyWriter: 5,
    activeWhen: '`delta.columnMapping.mode` is `id` or `name`',
    active: ({ properties }) =>
      (own(properties, 'delta.columnMapping.mode') ?? 'none').toLowerCase() !== 'none',
    note: 'Files, statistics and partition values have physical names, files the field ids.',
  },
  identityColumns: {
    kind: 'writer',
    read: 'yes',
    write: 'inactive',
    maintain: 'yes',
    legacyWriter: 6,
    ...fieldKey('delta.identity.start'),
  },
  allowColumnDefaults: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    ...fieldKey('CURRENT_DEFAULT'),
    note: 'Defaults of constants and of the time of the write, in UTC; a table with another default is not written.',
  },
  deletionVectors: {
    kind: 'reader-writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    ...property('delta.enableDeletionVectors'),
    note: 'The property never changes reads. While it is true, rows are deleted and changed by deletion vectors.',
  },
  rowTracking: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    activeWhen: 'it is listed and `delta.rowTrackingSuspended` is not true',
    active: ({ properties }) => !isTrue(properties, 'delta.rowTrackingSuspended'),
    note: 'Rows that are copied or changed keep their ids where `delta.enableRowTracking` is true. Writers owe fresh row ids as soon as the feature is listed, whether `delta.enableRowTracking` is true or not.',
  },
  timestampNtz: {
    kind: 'reader-writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    ...columnType('timestamp_ntz'),
  },
  typeWidening: TYPE_WIDENING,
  'typeWidening-preview': TYPE_WIDENING,
  domainMetadata: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    ...HARMLESS,
    note: 'Domains that this library does not know are kept as they are.',
  },
  v2Checkpoint: {
    kind: 'reader-writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    activeWhen: '`delta.checkpointPolicy` is `v2`',
    active: ({ properties }) => own(properties, 'delta.checkpointPolicy') === 'v2',
    note: 'Where the policy is v2, checkpoints are of the V2 Spec, with the classic name and without sidecars. Multi-part ones are never written.',
  },
  vacuumProtocolCheck: { kind: 'reader-writer', read: 'yes', write: 'yes', maintain: 'yes', ...HARMLESS },
  inCommitTimestamp: IN_COMMIT_TIMESTAMP,
  'inCommitTimestamp-preview': IN_COMMIT_TIMESTAMP,
  clustering: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'yes',
    ...LISTED,
    note: 'Files written have statistics of every clustering column; they are not clustered.',
  },
  variantType: VARIANT,
  'variantType-preview': VARIANT,
  variantShredding: VARIANT_SHREDDING,
  'variantShredding-preview': VARIANT_SHREDDING,
  icebergCompatV1: icebergCompat('V1'),
  icebergCompatV2: icebergCompat('V2'),
  icebergCompatV3: icebergCompat('V3'),
  checkpointProtection: {
    kind: 'writer',
    read: 'yes',
    write: 'yes',
    maintain: 'no',
    ...LISTED,
    note: 'It binds clean-up of the log alone.',
  },
  catalogManaged: CATALOG,
  'catalogOwned-preview': CATALOG,
};

/** The feature of a name; the names come from tables, so that `constructor` is none. */
export function findFeature(name: string): Feature | undefined {
  return Object.hasOwn(FEATURES, name) ? FEATURES[name] : undefined;
}

function own(properties: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function isTrue(properties: Readonly<Record<string, string>>, key: string): boolean {
  return own(properties, key)?.toLowerCase() === 'true';
}
