"""Readers of plain Parquet, given the live files of a version: pyarrow and DuckDB.

Both get the paths and partition values of the log and know nothing else of the table, so they tell whether the files themselves are right.
"""
from __future__ import annotations

import os
from decimal import Decimal
from urllib.parse import unquote

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from canonical import days_of, decode_rows, encode_table, micros_of
from delta_types import arrow_schema


def partition_value(text: str | None, kind: pa.DataType):
    """A serialised partition value as the protocol describes it; the empty string is NULL."""
    if text is None or text == "":
        return None
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[text]
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_floating(kind):
        return float(text)
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_binary(kind):
        return text.encode()
    if pa.types.is_date(kind):
        return days_of(text)
    if pa.types.is_timestamp(kind):
        return micros_of(text)
    return text


def constant(value, kind: pa.DataType, length: int) -> pa.Array:
    if pa.types.is_date(kind):
        return pa.array([value] * length, pa.int32()).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array([value] * length, pa.int64()).cast(kind)
    return pa.array([value] * length, kind)


def read_with(read_file, root, schema, partitionColumns, files) -> list[str]:
    """Canonical lines. `files`: `{ path, partitionValues }` of the adds; column mapping is not known here."""
    target = arrow_schema(schema)
    lines = []
    for file in files:
        table = read_file(os.path.join(root, unquote(file["path"])))
        columns = []
        for field in target:
            if field.name in partitionColumns:
                value = partition_value(file["partitionValues"].get(field.name), field.type)
                columns.append(constant(value, field.type, table.num_rows))
            elif field.name in table.column_names:
                columns.append(table.column(field.name).combine_chunks().cast(field.type))
            else:
                columns.append(pa.nulls(table.num_rows, field.type))
        lines += encode_table(pa.Table.from_arrays(columns, schema=target))
    return lines


def read_duckdb(path: str) -> pa.Table:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    # A literal path: DuckDB takes * ? [ for patterns, which a list of paths does not turn off.
    escaped = "".join(f"[{c}]" if c in "*?[" else c for c in path)
    return connection.execute("SELECT * FROM read_parquet(?, hive_partitioning = false)", [escaped]).to_arrow_table()


def read_pyarrow(path: str) -> pa.Table:
    with open(path, "rb") as file:
        return pq.ParquetFile(file).read()


def write(path, schema, lines, options) -> int:
    """One file by pyarrow, which no log mentions; `options` are those of `write_table`. Answers its size."""
    pq.write_table(decode_rows(schema, lines), path, **options)
    return os.path.getsize(path)


def describe(path) -> dict:
    """What the footer of one file says: codecs, encodings, rows of each row group, and the physical and logical types."""
    with pq.ParquetFile(path) as file:
        metadata = file.metadata
        groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
        return {
            "createdBy": metadata.created_by,
            "rowGroups": [group.num_rows for group in groups],
            "codecs": sorted({g.column(i).compression for g in groups for i in range(g.num_columns)}),
            "columns": [
                {
                    "path": column.path,
                    "physical": column.physical_type,
                    "logical": str(column.logical_type),
                }
                for column in (metadata.schema.column(i) for i in range(metadata.num_columns))
            ],
        }


OPERATIONS = {
    "duckdb": lambda **args: read_with(read_duckdb, **args),
    "pyarrow": lambda **args: read_with(read_pyarrow, **args),
    "describe": describe,
    "write": write,
}
