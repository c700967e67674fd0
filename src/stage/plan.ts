import { TableError } from '../errors.js';
import type { DataSkipping } from '../log/properties.js';
import { isStored, storedStruct } from '../parquet/encode-schema.js';
import { type MappingMode, physicalName, physicalSchema } from '../schema/mapping.js';
import type { DataType, StructType } from '../schema/types.js';
import { planStatistics, type StatisticsColumn } from './statistics.js';

/** What rows are to become. */
export interface StageSpec {
  /** The whole logical schema; batches have its columns in its order, in the Arrow types of `toArrowSchema`. */
  readonly schema: StructType;
  /** How files name columns; default `none`. */
  readonly mapping?: MappingMode;
  /** Logical names, in the table's order. */
  readonly partitionColumns: readonly string[];
  /** Bytes after which a file is closed; default 128 MiB. */
  readonly targetFileSize?: number;
  /** Which columns have statistics; default the first 32 leaves. */
  readonly stats?: DataSkipping;
  readonly signal?: AbortSignal;
  /** Bytes that rows may take in memory before they go to files or to the local disk; default the pool's. */
  readonly memory?: number;
  /** A folder of the table that the files go under, as an object key without slashes at its ends; default the table's root. */
  readonly dataFolder?: string;
}

/** The part of a spec that threads need, as plain data. */
export interface StagePlan {
  /** Of its own within the process: threads keep what they derive from a plan. */
  readonly id: number;
  /** Types of all columns in schema order. */
  readonly types: readonly DataType[];
  /** Indexes of the partition columns, in the table's order. */
  readonly partition: readonly number[];
  /** Indexes of the columns that stand in files. */
  readonly data: readonly number[];
  /** The schema of the files. */
  readonly file: StructType;
  readonly statistics: readonly StatisticsColumn[];
}

let nextId = 1;

/** Throws `UNKNOWN_COLUMN` for a partition column that the schema lacks. */
export function planStage(spec: StageSpec): StagePlan & { readonly names: readonly string[] } {
  const mode = spec.mapping ?? 'none';
  const { fields } = spec.schema;
  const partition = spec.partitionColumns.map((name) => {
    const index = fields.findIndex((field) => field.name === name);
    if (index >= 0) return index;
    throw new TableError('UNKNOWN_COLUMN', `The partition column '${name}' is not in the schema.`, {
      column: name,
    });
  });
  const inFiles = fields.map((_, i) => i).filter((i) => !partition.includes(i));
  const data = inFiles.filter((i) => isStored(fields[i]!.dataType));
  const logical: StructType = { type: 'struct', fields: inFiles.map((i) => fields[i]!) };
  return {
    id: nextId++,
    types: fields.map((field) => field.dataType),
    partition,
    data,
    file: storedStruct(physicalSchema({ type: 'struct', fields: data.map((i) => fields[i]!) }, mode)),
    statistics: planStatistics(logical, mode, spec.stats),
    names: partition.map((i) => physicalName(fields[i]!, mode)),
  };
}
