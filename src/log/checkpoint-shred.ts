import type { LeafWriter } from '../parquet/flat/write/leaf-writer.js';
import type { LeafType, WriteNode } from '../parquet/flat/write/schema.js';

/** Hands out the writers of leaves in file order. */
export interface WriterCursor {
  readonly writers: readonly LeafWriter[];
  next: number;
}

/**
 * Writes one row of an action into the writers of its leaves, from the cursor on. `definition` is the level of what holds the node; undefined and null members
 * are null. Members that the schema does not have are dropped.
 */
export function shredRow(node: WriteNode, value: unknown, cursor: WriterCursor, definition = 0): void {
  const there = value !== undefined && value !== null;
  const level = there ? definition + 1 : definition;
  switch (node.kind) {
    case 'leaf': {
      const writer = cursor.writers[cursor.next++] as LeafWriter;
      writer.entry(0, level);
      if (there) writeValue(writer, node.type, value);
      return;
    }
    case 'group':
      for (const child of node.children) {
        const member =
          there && Object.hasOwn(value as object, child.name)
            ? (value as Record<string, unknown>)[child.name]
            : undefined;
        if (there) shredRow(child, member, cursor, level);
        else nullBelow(child, cursor, definition);
      }
      return;
    case 'map':
      writeMap(
        cursor.writers[cursor.next++] as LeafWriter,
        cursor.writers[cursor.next++] as LeafWriter,
        there ? Object.entries(value as object) : undefined,
        definition,
      );
      return;
    case 'list': {
      const writer = cursor.writers[cursor.next++] as LeafWriter;
      const items = there ? (value as readonly string[]) : [];
      if (items.length === 0) writer.entry(0, level);
      items.forEach((item, index) => {
        writer.entry(index === 0 ? 0 : 1, level + 2);
        writer.text(item);
      });
      return;
    }
  }
}

function nullBelow(node: WriteNode, cursor: WriterCursor, level: number): void {
  if (node.kind === 'group') {
    for (const child of node.children) nullBelow(child, cursor, level);
    return;
  }
  const leaves = node.kind === 'map' ? 2 : 1;
  for (let i = 0; i < leaves; i++) (cursor.writers[cursor.next++] as LeafWriter).entry(0, level);
}

/** Writes one map of strings; undefined is null. */
export function writeMap(
  keys: LeafWriter,
  values: LeafWriter,
  entries: readonly [string, string | null][] | undefined,
  definition: number,
): void {
  if (entries === undefined || entries.length === 0) {
    const level = entries === undefined ? definition : definition + 1;
    keys.entry(0, level);
    values.entry(0, level);
    return;
  }
  entries.forEach(([key, value], index) => {
    const repetition = index === 0 ? 0 : 1;
    keys.entry(repetition, definition + 2);
    keys.text(key);
    values.entry(repetition, value === null ? definition + 2 : definition + 3);
    if (value !== null) values.text(value);
  });
}

/** Writes one value in the physical form of its type: numbers, bigint, text, days for dates, microseconds for timestamps, unscaled decimals. */
export function writeValue(writer: LeafWriter, type: LeafType, value: unknown): void {
  switch (type.kind) {
    case 'boolean':
      writer.boolean(value as boolean);
      return;
    case 'int':
    case 'int32':
    case 'date':
      writer.int32(Number(value));
      return;
    case 'int64':
    case 'timestamp':
      writer.int64(value as number | bigint);
      return;
    case 'float':
      writer.float(value as number);
      return;
    case 'double':
      writer.double(value as number);
      return;
    case 'string':
      writer.text(value as string);
      return;
    case 'decimal':
      writer.decimal(value as number | bigint, type.precision);
      return;
  }
}
