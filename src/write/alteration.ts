import type { TransactionOptions } from '../commit/transaction.js';
import type { ProtocolAction } from '../log/actions.js';
import type { ColumnName, Position } from '../schema/evolution-edit.js';
import type { StructType } from '../schema/types.js';

/** New columns, nullable, as DDL text (`x long comment 'why', y string`) or a schema; `within` a struct, or of the table; at the end, or where told. */
export type AddColumns = {
  readonly addColumns: string | StructType;
  readonly within?: ColumnName;
} & Partial<{ readonly first: true; readonly after: string }>;

/** Another name. Columns must be mapped (`delta.columnMapping.mode`): data files keep the old one. */
export interface RenameColumn {
  readonly renameColumn: ColumnName;
  readonly to: string;
}

/** One column less. Columns must be mapped: data files keep it, and its name is free for another. */
export interface DropColumn {
  readonly dropColumn: ColumnName;
}

/**
 * Another comment or default (null for none), a wider type as DDL text, NULL allowed where it was not, another place among its siblings. A default is SQL text of
 * constants, or of the time of the write (`current_timestamp()`, `current_date()`, in UTC); rows that name no value get it from now on.
 */
export type ChangeColumn = {
  readonly changeColumn: ColumnName;
  readonly comment?: string | null;
  readonly default?: string | null;
  readonly type?: string;
  readonly nullable?: true;
} & Partial<{ readonly first: true; readonly after: string }>;

/** Table properties, and with them the features that they need; `delta.feature.<name>` = `supported` stands for a feature alone. */
export interface SetProperties {
  readonly setProperties: Readonly<Record<string, string>>;
}

export interface UnsetProperties {
  readonly unsetProperties: readonly string[];
}

/**
 * A table feature less, so that engines which lack it can use the table. It must not be in use: properties and what columns say of it go first, in the same
 * call if wanted. What readers need of older versions cannot go before those are cleaned up.
 */
export interface DropFeature {
  readonly dropFeature: string;
}

/** A condition that every row must satisfy from now on; the rows that are there are checked first. */
export interface AddConstraint {
  readonly addConstraint: string;
  readonly check: string;
}

export interface DropConstraint {
  readonly dropConstraint: string;
}

/** Words for people; null for none. */
export interface SetName {
  readonly name: string | null;
}
export interface SetDescription {
  readonly description: string | null;
}

/** One change of a table's metadata. */
export type Alteration =
  | AddColumns
  | RenameColumn
  | DropColumn
  | ChangeColumn
  | SetProperties
  | UnsetProperties
  | DropFeature
  | AddConstraint
  | DropConstraint
  | SetName
  | SetDescription;

export type AlterOptions = TransactionOptions;

/** What changes would do to one version. Plain data. */
export interface AlterPlan {
  /** The version it was planned on. */
  readonly version: number;
  /** As other engines name it; `ALTER TABLE` where there are changes of several kinds. */
  readonly operation: string;
  /** One line for each change, for people. None where the table is so already. */
  readonly changes: readonly string[];
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
  readonly protocol: ProtocolAction;
  /** Table features that the protocol would gain: older programs may no longer read or write the table. */
  readonly newFeatures: readonly string[];
  /** Those that it would lose. */
  readonly droppedFeatures: readonly string[];
}

export interface AlterResult extends AlterPlan {
  /** `unchanged` where the table is so already: then nothing is committed. */
  readonly status: 'committed' | 'unchanged';
  /** The version committed, or the one on which no commit was needed. */
  readonly version: number;
  readonly attempts: number;
}

/** A table's metadata on the way from one alteration to the next. */
export interface Draft {
  readonly schema: StructType;
  readonly partitionColumns: readonly string[];
  readonly configuration: Readonly<Record<string, string>>;
  readonly name: string | null | undefined;
  readonly description: string | null | undefined;
  readonly protocol: ProtocolAction;
  /** Conditions to be checked against the rows that are there. */
  readonly checks: readonly { readonly name: string; readonly check: string }[];
}

/** What an alteration depends on besides the draft. */
export interface AlterBase {
  readonly url: string;
  readonly hasFiles: boolean;
  /** The names of the live domains. */
  readonly domains: readonly string[];
  /** What still tells of features that are to be dropped; see `traceOf`. */
  readonly traces: ReadonlyMap<string, string>;
  /** Of the commit to be made: its version and time in milliseconds. */
  readonly version: number;
  readonly timestamp: number;
  readonly uuid: () => string;
}

/** What one alteration comes to: `operation` and `parameters` as other engines tell it, `told` for people. */
export interface Altered {
  readonly draft: Draft;
  readonly operation: string;
  readonly parameters: Readonly<Record<string, string | boolean>>;
  readonly told: string;
}

/** The position that a change names, if it names one. */
export function positionOf(change: { readonly first?: true; readonly after?: string }): Position | undefined {
  if (change.first) return { first: true };
  return change.after === undefined ? undefined : { after: change.after };
}
