"""Makes the data of the bench, once, under the folder given: `python data.py FOLDER [REFERENCE_DIR]`. Everything comes of fixed seeds.

rows.arrow          5,000,000 rows x 6 columns over 30 days, in no order of days; day.arrow: the rows of one of the days
keys.arrow          10,000 rows to merge, 9,000 of them with the ids of rows and 1,000 with new ones; day-keys.arrow: the same of the one day
large-json/         a log of 300,000 files with statistics, as JSON commits; large-checkpoint/: the same, as one checkpoint of delta-rs
reference-large/    the log of the reference set, where that is at hand: JSON commits without statistics
commits-N/          a log of N commits of one file each, checkpoints in between, the last of them ten commits before the end
"""
from __future__ import annotations

import datetime
import json
import os
import shutil
import sys
import tarfile

import numpy as np
import pyarrow as pa
from deltalake import DeltaTable

ROWS, DAYS, BATCH = 5_000_000, 30, 100_000
FIRST_DAY = datetime.date(2024, 1, 1)
KEYS, NEW_KEYS = 10_000, 1_000
FILES, FILE_DAYS = 300_000, 300
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("ts", pa.timestamp("us", "UTC")),
        ("day", pa.date32()),
        ("category", pa.string()),
        ("amount", pa.float64()),
        ("name", pa.string()),
    ]
)
DELTA_TYPES = {"id": "long", "ts": "timestamp", "day": "date", "category": "string", "amount": "double", "name": "string"}


def make_rows(folder: str) -> None:
    random = np.random.default_rng(20240101)
    first = (FIRST_DAY - datetime.date(1970, 1, 1)).days
    categories = np.array([f"category-{i:02d}" for i in range(20)])
    chosen = first + 14
    kept = []
    with pa.OSFile(f"{folder}/rows.arrow", "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        for start in range(0, ROWS, BATCH):
            days = first + random.integers(0, DAYS, BATCH)
            micros = days * 86_400_000_000 + random.integers(0, 86_400_000_000, BATCH)
            numbers = random.integers(0, 10_000_000, BATCH)
            batch = pa.record_batch(
                [
                    pa.array(np.arange(start, start + BATCH)),
                    pa.array(micros).cast(pa.timestamp("us", "UTC")),
                    pa.array(days.astype(np.int32)).cast(pa.date32()),
                    pa.array(categories[random.integers(0, len(categories), BATCH)]),
                    pa.array(random.gamma(2.0, 50.0, BATCH)),
                    pa.array([f"customer-{n:07d}" for n in numbers]),
                ],
                schema=SCHEMA,
            )
            writer.write_batch(batch)
            kept.append(batch.filter(pa.array(days == chosen)))
    day = pa.Table.from_batches(kept).combine_chunks()
    with pa.OSFile(f"{folder}/day.arrow", "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
        writer.write_table(day, max_chunksize=BATCH)


def make_keys(folder: str, rows: str) -> None:
    os.makedirs(folder)
    for name, source in (("keys", "rows"), ("day-keys", "day")):
        with pa.memory_map(f"{rows}/{source}.arrow") as file:
            table = pa.ipc.open_file(file).read_all()
        chosen = np.random.default_rng(7).choice(table.num_rows, KEYS, replace=False)
        kept = table.take(pa.array(np.sort(chosen)))
        ids = kept.column("id").to_numpy().copy()
        ids[:: KEYS // NEW_KEYS] += ROWS
        merged = kept.set_column(0, "id", pa.array(ids)).set_column(5, "name", pa.array(["merged"] * KEYS))
        with pa.OSFile(f"{folder}/{name}.arrow", "wb") as sink, pa.ipc.new_file(sink, SCHEMA) as writer:
            writer.write_table(merged.combine_chunks())


def head(partition_columns: list[str]) -> list[dict]:
    fields = [{"name": n, "type": t, "nullable": True, "metadata": {}} for n, t in DELTA_TYPES.items()]
    metadata = {
        "id": "8d6f7a52-6c0b-4f0e-9d1e-0d5a5f5f3c11",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}),
        "partitionColumns": partition_columns,
        "configuration": {},
        "createdTime": 1_704_067_200_000,
    }
    return [{"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}, {"metaData": metadata}]


def add(number: int, day: datetime.date) -> dict:
    low = {"id": number * 1000, "ts": f"{day}T00:00:00.{number % 1000:03d}Z", "category": "category-00",
           "amount": round(number % 977 / 10, 2), "name": f"customer-{number:07d}"}
    high = {"id": number * 1000 + 999, "ts": f"{day}T23:59:59.{number % 1000:03d}Z", "category": "category-19",
            "amount": round(500 + number % 983 / 10, 2), "name": f"customer-{number + 5000:07d}"}
    stats = {"numRecords": 1000, "minValues": low, "maxValues": high, "nullCount": dict.fromkeys(low, 0)}
    uuid = f"{number * 2654435761 % 2**32:08x}-{number % 65536:04x}-4000-8000-{number:012x}"
    return {
        "add": {
            "path": f"day={day}/part-{number:05d}-{uuid}-c000.zstd.parquet",
            "partitionValues": {"day": str(day)},
            "size": 40_000 + number % 5000,
            "modificationTime": 1_704_067_200_000 + number,
            "dataChange": True,
            "stats": json.dumps(stats, separators=(",", ":")),
        }
    }


def write_commit(log: str, version: int, actions: list[dict]) -> None:
    info = {"commitInfo": {"timestamp": 1_704_067_200_000 + version, "operation": "WRITE", "operationParameters": {}}}
    with open(f"{log}/{version:020d}.json", "w") as file:
        file.writelines(json.dumps(action, separators=(",", ":")) + "\n" for action in [info, *actions])


def make_large(folder: str) -> None:
    log = f"{folder}/_delta_log"
    os.makedirs(log)
    write_commit(log, 0, head(["day"]))
    per_commit = FILES // 10
    for commit in range(10):
        numbers = range(commit * per_commit, (commit + 1) * per_commit)
        days = [FIRST_DAY + datetime.timedelta(n * FILE_DAYS // FILES) for n in numbers]
        write_commit(log, commit + 1, [add(n, d) for n, d in zip(numbers, days)])


def make_checkpoint(source: str, folder: str) -> None:
    shutil.copytree(source, folder)
    DeltaTable(folder).create_checkpoint()
    for version in range(10):
        os.remove(f"{folder}/_delta_log/{version:020d}.json")


def make_commits(folder: str, count: int) -> None:
    log = f"{folder}/_delta_log"
    os.makedirs(log)
    write_commit(log, 0, head(["day"]))
    every = max(10, count // 10)
    for version in range(1, count + 1):
        write_commit(log, version, [add(version, FIRST_DAY + datetime.timedelta(version % DAYS))])
        if version == count - 10 or (version % every == 0 and version < count - 10):
            DeltaTable(folder).create_checkpoint()


def make_reference(folder: str, reference: str) -> None:
    archive = f"{reference}/large/300k-add-files-100-col-partitioned.tar.zst"
    with pa.input_stream(archive, compression="zstd") as stream, tarfile.open(fileobj=stream, mode="r|") as tar:
        tar.extractall(folder, filter="data")
    inner = f"{folder}/300k-add-files-100-col-partitioned"
    os.rename(f"{inner}/_delta_log", f"{folder}/_delta_log")
    shutil.rmtree(inner)


def make(folder: str, name: str, maker, *arguments) -> None:
    """Runs `maker` for `folder/name`, which stands there only once it is whole."""
    target, partial = f"{folder}/{name}", f"{folder}/{name}.partial"
    if os.path.exists(target):
        return
    print(f"making {name}", file=sys.stderr, flush=True)
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(os.path.dirname(partial), exist_ok=True)
    maker(partial, *arguments)
    os.rename(partial, target)


def make_rows_folder(folder: str) -> None:
    os.makedirs(folder)
    make_rows(folder)


def main(folder: str, reference: str | None = None) -> None:
    make(folder, "rows", make_rows_folder)
    make(folder, "keys", make_keys, f"{folder}/rows")
    make(folder, "large-json", make_large)
    make(folder, "large-checkpoint", lambda target: make_checkpoint(f"{folder}/large-json", target))
    for count in (100, 1_000, 10_000):
        make(folder, f"commits-{count}", make_commits, count)
    if reference and os.path.exists(f"{reference}/large"):
        make(folder, "reference-large", make_reference, reference)


if __name__ == "__main__":
    main(*sys.argv[1:])
