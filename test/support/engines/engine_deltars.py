"""delta-rs (the `deltalake` package)."""
from __future__ import annotations

import json

import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, write_deltalake

from canonical import decode_rows, encode_table


def open_table(url, version=None, storage=None) -> DeltaTable:
    return DeltaTable(url, version=version, storage_options=storage)


def describe(table: DeltaTable) -> dict:
    protocol, metadata = table.protocol(), table.metadata()
    return {
        "version": table.version(),
        "schema": json.loads(table.schema().to_json()),
        "partitionColumns": metadata.partition_columns,
        "configuration": metadata.configuration,
        "protocol": {
            "minReaderVersion": protocol.min_reader_version,
            "minWriterVersion": protocol.min_writer_version,
            "readerFeatures": protocol.reader_features,
            "writerFeatures": protocol.writer_features,
        },
    }


def read(url, version=None, columns=None, predicate=None, storage=None) -> dict:
    table = open_table(url, version, storage)
    rows = pa.table(table.scan(columns=columns, predicate=predicate))
    names = columns or [field.name for field in table.schema().fields]
    return {**describe(table), "lines": encode_table(rows.select(names))}


def files(url, version=None, storage=None) -> list[dict]:
    adds = pa.table(open_table(url, version, storage).get_add_actions(flatten=True)).to_pylist()
    return json.loads(json.dumps(adds, default=str))


def write(url, schema, lines, mode="append", partitionBy=None, predicate=None, configuration=None, checkpoint=False,
          storage=None, txn=None) -> int:
    """Appends or overwrites; without `checkpoint` none of delta-rs's hooks after a commit runs."""
    write_deltalake(
        url,
        decode_rows(schema, lines),
        mode=mode,
        partition_by=partitionBy,
        predicate=predicate,
        configuration=configuration,
        storage_options=storage,
        commit_properties=CommitProperties(app_transactions=txn) if txn else None,
        post_commithook_properties=PostCommitHookProperties(create_checkpoint=checkpoint, cleanup_expired_logs=False),
    )
    return open_table(url, storage=storage).version()


def checkpoint(url, storage=None) -> int:
    table = open_table(url, storage=storage)
    table.create_checkpoint()
    return table.version()


def cleanup(url, storage=None) -> None:
    open_table(url, storage=storage).cleanup_metadata()


def vacuum(url, hours=0, storage=None) -> list[str]:
    return open_table(url, storage=storage).vacuum(hours, dry_run=False, enforce_retention_duration=False, full=True)


def optimize(url, storage=None) -> int:
    table = open_table(url, storage=storage)
    table.optimize.compact()
    return table.version()


def delete(url, predicate=None, storage=None) -> int:
    table = open_table(url, storage=storage)
    table.delete(predicate)
    return table.version()


def history(url, limit=None, storage=None) -> list[dict]:
    return json.loads(json.dumps(open_table(url, storage=storage).history(limit), default=str))


def transaction_version(url, appId, storage=None) -> int | None:
    return open_table(url, storage=storage).transaction_version(appId)


OPERATIONS = {
    "describe": lambda **args: describe(open_table(**args)),
    "read": read,
    "files": files,
    "write": write,
    "checkpoint": checkpoint,
    "cleanup": cleanup,
    "vacuum": vacuum,
    "optimize": optimize,
    "delete": delete,
    "history": history,
    "transactionVersion": transaction_version,
}
