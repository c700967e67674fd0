"""The canonical row encoding: one row a line of compact JSON, so that the answers of all engines compare as sorted lines.

64-bit integers and decimals are strings, timestamps have six digits and `Z` where they are instants, maps are sorted lists of pairs.
"""
from __future__ import annotations

import base64
import json
import re
from decimal import ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa

from delta_types import arrow_schema

MICROS_A_DAY = 86_400_000_000


def encode_table(table: pa.Table) -> list[str]:
    """The rows of `table`, in order. Columns without a type (void) are left out."""
    fields = [field for field in table.schema if not pa.types.is_null(field.type)]
    columns = [encode_array(table.column(field.name).combine_chunks()) for field in fields]
    names = [encode_string(field.name) for field in fields]
    if not fields:
        return ["{}"] * table.num_rows
    return ["{" + ",".join(f"{n}:{v}" for n, v in zip(names, row)) + "}" for row in zip(*columns)]


def encode_array(array) -> list[str]:
    if isinstance(array, pa.ChunkedArray):
        return [text for chunk in array.chunks for text in encode_array(chunk)]
    kind = array.type
    if isinstance(kind, pa.ExtensionType):
        return encode_array(array.storage)
    if pa.types.is_dictionary(kind):
        return encode_array(array.dictionary_decode())
    if pa.types.is_null(kind):
        return ["null"] * len(array)
    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        names = [encode_string(field.name) for field in fields]
        children = [encode_array(child) for child in array.flatten()]
        rows = zip(*children) if children else ([] for _ in range(len(array)))
        texts = ["{" + ",".join(f"{n}:{v}" for n, v in zip(names, row)) + "}" for row in rows]
    elif pa.types.is_map(kind):
        keys, values, offsets = encode_array(array.keys), encode_array(array.items), array.offsets.to_pylist()
        texts = []
        for a, b in zip(offsets, offsets[1:]):
            order = sorted(range(a, b), key=lambda j: keys[j].encode())
            texts.append("[" + ",".join(f"[{keys[j]},{values[j]}]" for j in order) + "]")
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        values, offsets = encode_array(array.values), array.offsets.to_pylist()
        texts = ["[" + ",".join(values[a:b]) + "]" for a, b in zip(offsets, offsets[1:])]
    else:
        encode, cells = scalar_encoder(array)
        return ["null" if cell is None else encode(cell) for cell in cells]
    return [text if valid else "null" for text, valid in zip(texts, array.is_valid().to_pylist())]


def scalar_encoder(array: pa.Array):
    kind = array.type
    if pa.types.is_boolean(kind):
        return (lambda v: "true" if v else "false"), array.to_pylist()
    if pa.types.is_int64(kind) or pa.types.is_uint64(kind):
        return (lambda v: f'"{v}"'), array.to_pylist()
    if pa.types.is_integer(kind):
        return str, array.to_pylist()
    if pa.types.is_float32(kind):
        return encode_float, array.to_pylist()
    if pa.types.is_floating(kind):
        return encode_double, array.to_pylist()
    if pa.types.is_decimal(kind):
        return (lambda v: f'"{v:.{kind.scale}f}"'), array.to_pylist()
    if pa.types.is_date(kind):
        return (lambda v: f'"{date_text(v)}"'), array.cast(pa.date32()).cast(pa.int32()).to_pylist()
    if pa.types.is_timestamp(kind):
        zone = "Z" if kind.tz else ""
        micros = array.cast(pa.timestamp("us", kind.tz), safe=False).cast(pa.int64()).to_pylist()
        return (lambda v: f'"{timestamp_text(v)}{zone}"'), micros
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return encode_string, array.to_pylist()
    if "binary" in str(kind):
        return (lambda v: f'"{base64.b64encode(v).decode()}"'), array.to_pylist()
    raise ValueError(f"no canonical form for Arrow type {kind}")


def encode_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def encode_double(value: float) -> str:
    return special(value) or number_text(Decimal(repr(float(value))))


def encode_float(value: float) -> str:
    if special(value):
        return special(value)
    with np.errstate(over="ignore"):
        for precision in range(1, 10):
            decimal = Context(prec=precision, rounding=ROUND_HALF_UP).create_decimal(Decimal(value))
            if np.float32(float(decimal)) == np.float32(value):
                return number_text(Decimal(repr(float(decimal))))
    raise ValueError(f"{value!r} is no float32")


def special(value: float) -> str | None:
    if value != value:
        return '"NaN"'
    if value in (float("inf"), float("-inf")):
        return '"Infinity"' if value > 0 else '"-Infinity"'
    return '"-0"' if value == 0 and np.signbit(value) else None


def number_text(value: Decimal) -> str:
    """As JavaScript prints the number whose shortest decimal form is `value`."""
    sign, digits, exponent = value.normalize().as_tuple()
    text, point = "".join(map(str, digits)), len(digits) + exponent
    if value == 0:
        return "0"
    if 0 < point <= 21:
        text = text.ljust(point, "0") if len(text) <= point else f"{text[:point]}.{text[point:]}"
    elif -6 < point <= 0:
        text = "0." + "0" * -point + text
    else:
        mantissa = text if len(text) == 1 else f"{text[0]}.{text[1:]}"
        text = f"{mantissa}e{'+' if point > 0 else '-'}{abs(point - 1)}"
    return "-" + text if sign else text


def date_text(days: int) -> str:
    """Days since 1970-01-01, proleptic Gregorian, beyond the years that Python's own dates know."""
    z = days + 719_468
    era, day_of_era = divmod(z, 146_097)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    m = (5 * day_of_year + 2) // 153
    day, month = day_of_year - (153 * m + 2) // 5 + 1, m + 3 if m < 10 else m - 9
    year = year_of_era + era * 400 + (month <= 2)
    shown = f"{year:04d}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):06d}"
    return f"{shown}-{month:02d}-{day:02d}"


def timestamp_text(micros: int) -> str:
    days, rest = divmod(micros, MICROS_A_DAY)
    seconds, fraction = divmod(rest, 1_000_000)
    return f"{date_text(days)}T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:06d}"


def days_of(text: str) -> int:
    match = re.fullmatch(r"([+-]?\d{4,6})-(\d\d)-(\d\d)", text)
    year, month, day = int(match[1]), int(match[2]), int(match[3])
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5 + day - 1
    return era * 146_097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719_468


def micros_of(text: str) -> int:
    match = re.fullmatch(r"(.+)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?Z?", text)
    seconds = int(match[2]) * 3600 + int(match[3]) * 60 + int(match[4])
    return days_of(match[1]) * MICROS_A_DAY + seconds * 1_000_000 + int((match[5] or "").ljust(6, "0") or 0)


def decode_rows(schema: dict, lines: list[str]) -> pa.Table:
    """Canonical lines as an Arrow table of the Delta schema given."""
    target = arrow_schema(schema)
    rows = [json.loads(line) for line in lines]
    columns = [decode_array([row[field.name] for row in rows], field.type) for field in target]
    return pa.Table.from_arrays(columns, schema=target)


def decode_array(cells: list, kind: pa.DataType) -> pa.Array:
    def each(change):
        return [None if cell is None else change(cell) for cell in cells]

    if pa.types.is_struct(kind):
        fields = [kind.field(i) for i in range(kind.num_fields)]
        children = [decode_array([None if c is None else c[f.name] for c in cells], f.type) for f in fields]
        return pa.StructArray.from_arrays(children, fields=fields, mask=pa.array([c is None for c in cells]))
    if pa.types.is_list(kind):
        values = decode_array([v for cell in cells if cell is not None for v in cell], kind.value_type)
        return pa.ListArray.from_arrays(offsets_of(cells), values, type=kind)
    if pa.types.is_map(kind):
        pairs = [pair for cell in cells if cell is not None for pair in cell]
        keys = decode_array([pair[0] for pair in pairs], kind.key_type)
        items = decode_array([pair[1] for pair in pairs], kind.item_type)
        return pa.MapArray.from_arrays(offsets_of(cells), keys, items, type=kind)
    if pa.types.is_timestamp(kind):
        return pa.array(each(micros_of), pa.int64()).cast(kind)
    if pa.types.is_date(kind):
        return pa.array(each(days_of), pa.int32()).cast(kind)
    if pa.types.is_decimal(kind):
        return pa.array(each(Decimal), kind)
    if pa.types.is_binary(kind):
        return pa.array(each(base64.b64decode), kind)
    if pa.types.is_integer(kind):
        return pa.array(each(int), kind)
    if pa.types.is_floating(kind):
        return pa.array(each(float), kind)
    return pa.array(cells, kind)


def offsets_of(cells: list) -> pa.Array:
    """Offsets of the lists in `cells`; the offset of a NULL one is NULL, as Arrow's builders of lists want it."""
    offsets, end = [], 0
    for cell in cells:
        offsets.append(None if cell is None else end)
        end += len(cell or ())
    return pa.array([*offsets, end], pa.int32())
