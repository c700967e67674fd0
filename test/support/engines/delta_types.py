"""Delta types (as in `metaData.schemaString`) to and from Arrow, and values out of the log."""
from __future__ import annotations

import re

import pyarrow as pa

PRIMITIVES = {
    "string": pa.string(),
    "long": pa.int64(),
    "integer": pa.int32(),
    "short": pa.int16(),
    "byte": pa.int8(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "void": pa.null(),
}


def arrow_type(delta) -> pa.DataType:
    if isinstance(delta, str):
        decimal = re.fullmatch(r"decimal\((\d+),\s*(\d+)\)", delta)
        if decimal:
            return pa.decimal128(int(decimal[1]), int(decimal[2]))
        return PRIMITIVES[delta]
    if delta["type"] == "struct":
        return pa.struct([arrow_field(field) for field in delta["fields"]])
    if delta["type"] == "array":
        return pa.list_(pa.field("element", arrow_type(delta["elementType"]), delta["containsNull"]))
    if delta["type"] == "map":
        value = pa.field("value", arrow_type(delta["valueType"]), delta["valueContainsNull"])
        return pa.map_(pa.field("key", arrow_type(delta["keyType"]), False), value)
    raise ValueError(f"unknown Delta type {delta!r}")


def arrow_field(field: dict) -> pa.Field:
    return pa.field(field["name"], arrow_type(field["type"]), field["nullable"])


def arrow_schema(delta: dict) -> pa.Schema:
    return pa.schema([arrow_field(field) for field in delta["fields"]])
