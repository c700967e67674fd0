"""delta-rs on small tables: what a random sequence does in one of its own, with the verbs that it has, and what versions of a table hold."""
from __future__ import annotations

from deltalake import DeltaTable, PostCommitHookProperties, write_deltalake
from deltalake.schema import Field, PrimitiveType

from canonical import decode_rows
from engine_deltars import read

# Checkpoints come as the steps say, and nothing is cleaned up.
HOOKS = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)


def play(url, schema, partitionBy, steps) -> dict:
    """The steps, each a list of operations, in order. The lines after each, or the error of the first that failed."""
    write_deltalake(url, decode_rows(schema, []), partition_by=partitionBy or None, post_commithook_properties=HOOKS)
    lines = []
    for number, operations in enumerate(steps):
        try:
            for operation in operations:
                run(url, **operation)
            lines.append(read(url)["lines"] if operations or not lines else lines[-1])
        except BaseException as error:  # noqa: BLE001 - delta-rs raises panics as such
            return {"lines": lines, "step": number, "error": f"{type(error).__name__}: {error}"}
    return {"lines": lines}


def run(url, op, **args) -> None:
    OPERATIONS_OF_A_STEP[op](url, **args)


def write(url, schema, lines, mode="append", predicate=None, schemaMode=None) -> None:
    write_deltalake(
        url, decode_rows(schema, lines), mode=mode, predicate=predicate, schema_mode=schemaMode,
        post_commithook_properties=HOOKS,
    )


def delete(url, predicate) -> None:
    DeltaTable(url).delete(predicate, post_commithook_properties=HOOKS)


def update(url, updates, predicate) -> None:
    DeltaTable(url).update(updates=updates, predicate=predicate, post_commithook_properties=HOOKS)


def merge(url, schema, lines, predicate, clauses) -> None:
    """`clauses`: the name of a method of the merger and its arguments, in order."""
    merger = DeltaTable(url).merge(
        decode_rows(schema, lines), predicate, source_alias="source", target_alias="target",
        post_commithook_properties=HOOKS,
    )
    for name, arguments in clauses:
        merger = getattr(merger, name)(**arguments)
    merger.execute()


def add_column(url, name, type) -> None:
    DeltaTable(url).alter.add_columns([Field(name, PrimitiveType(type))], post_commithook_properties=HOOKS)


def checkpoint(url) -> None:
    DeltaTable(url).create_checkpoint()


def compact(url) -> None:
    DeltaTable(url).optimize.compact(post_commithook_properties=HOOKS)


OPERATIONS_OF_A_STEP = {
    "write": write, "delete": delete, "update": update, "merge": merge, "addColumn": add_column, "checkpoint": checkpoint,
    "compact": compact,
}


def read_versions(url, versions) -> list:
    """The rows of each of the versions, unsorted."""
    lines = {version: read(url, version)["lines"] for version in dict.fromkeys(versions)}
    return [lines[version] for version in versions]


OPERATIONS = {"play": play, "read": read_versions}
