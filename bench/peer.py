"""delta-rs as the bench measures it: JSON requests on stdin, a line each, answers on stdout. Times in milliseconds, sizes in bytes.

What an operation prepares (reading its input, removing the last result) is left out of its time.
"""
from __future__ import annotations

import json
import os
import resource
import shutil
import sys
import time
import traceback

import deltalake
import pyarrow as pa
from deltalake import DeltaTable, PostCommitHookProperties, write_deltalake

import pipelines

inputs: dict[str, pa.Table] = {}
tables: dict[str, DeltaTable] = {}


def timed(action):
    start = time.perf_counter()
    value = action()
    return (time.perf_counter() - start) * 1000, value


def peak_rss() -> int:
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def rows_of(path: str) -> pa.Table:
    if path not in inputs:
        with pa.OSFile(path) as file:
            inputs[path] = pa.ipc.open_file(file).read_all()
    return inputs[path]


def load(path):
    return {"rows": rows_of(path).num_rows}


def open_table(url, storage=None):
    ms, table = timed(lambda: DeltaTable(url, storage_options=storage))
    return {"ms": ms, "version": table.version(), "peak": peak_rss()}


def refresh(url, storage=None):
    ms, _ = timed(tables[url].update_incremental)
    return {"ms": ms, "version": tables[url].version()}


def keep(url, storage=None):
    tables[url] = DeltaTable(url, storage_options=storage)
    return {"version": tables[url].version()}


def plan(url, column, value, statistics=False):
    """The files that may hold `column = value`: by partition filter, or by a predicate on statistics."""
    table = tables[url]
    if statistics:
        ms, files = timed(lambda: table.file_uris(file_pruning_predicate=f"{column} = {value}"))
    else:
        ms, files = timed(lambda: table.file_uris(file_pruning_predicate=[(column, "=", value)]))
    return {"ms": ms, "files": len(files)}


def write(url, path, partitionBy=("day",)):
    shutil.rmtree(url, ignore_errors=True)
    rows = rows_of(path)
    ms, _ = timed(lambda: write_deltalake(url, rows, partition_by=list(partitionBy)))
    size = sum(pa.table(DeltaTable(url).get_add_actions()).column("size_bytes").to_pylist())
    return {"ms": ms, "bytes": size, "peak": peak_rss()}


def overwrite_day(url, path, day):
    rows = rows_of(path)
    ms, _ = timed(lambda: write_deltalake(url, rows, mode="overwrite", predicate=f"day = '{day}'"))
    return {"ms": ms}


def merge(url, path, on):
    """An upsert by the keys `on`. Pruning by the source's bounds is off unless asked for, and asked for here."""
    rows, before = rows_of(path), set(data_files(url))
    predicate = " AND ".join(f"target.{key} = source.{key}" for key in on)

    def run():
        merger = DeltaTable(url).merge(
            rows, predicate, source_alias="source", target_alias="target", streamed_exec=False,
            post_commithook_properties=PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False),
        )
        return merger.when_matched_update_all().when_not_matched_insert_all().execute()

    ms, metrics = timed(run)
    written = sum(size for name, size in data_files(url).items() if name not in before)
    rows = metrics["num_target_rows_updated"] + metrics["num_target_rows_inserted"]
    return {"ms": ms, "rows": rows, "filesRead": metrics["num_target_files_removed"], "written": written, "peak": peak_rss()}


def data_files(url) -> dict[str, int]:
    """The names and sizes of what is not of the log."""
    return {
        os.path.join(folder, name): os.path.getsize(os.path.join(folder, name))
        for folder, _, names in os.walk(url)
        if "_delta_log" not in folder
        for name in names
    }


def scan(url, predicate=None, how="scan"):
    def run():
        table = DeltaTable(url)
        if how == "pyarrow":
            return table.to_pyarrow_table().num_rows
        return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(table.scan(predicate=predicate)))

    ms, rows = timed(run)
    return {"ms": ms, "rows": rows, "peak": peak_rss()}


def one_row(number: int) -> pa.Table:
    return pa.table({"id": pa.array([number], pa.int64()), "name": pa.array([f"row {number}"])})


def append_rows(url, count):
    shutil.rmtree(url, ignore_errors=True)
    write_deltalake(url, one_row(0))
    table = DeltaTable(url)

    def run():
        for number in range(1, count + 1):
            write_deltalake(table, one_row(number), mode="append")

    ms, _ = timed(run)
    return {"ms": ms, "version": DeltaTable(url).version()}


def checkpoint(url):
    log = f"{url}/_delta_log"
    for name in os.listdir(log):
        if "checkpoint" in name:
            os.remove(f"{log}/{name}")
    table = DeltaTable(url)
    ms, _ = timed(table.create_checkpoint)
    size = sum(os.path.getsize(f"{log}/{name}") for name in os.listdir(log) if name.endswith(".checkpoint.parquet"))
    return {"ms": ms, "bytes": size}


def part_rows(part: int, number: int) -> pa.Table:
    return pa.table({"id": pa.array([number], pa.int64()), "part": pa.array([part], pa.int64())})


def create(url, storage=None):
    ms, _ = timed(lambda: write_deltalake(url, part_rows(0, 0), partition_by=["part"], storage_options=storage))
    return {"ms": ms}


def write_part(url, part, verb="append", storage=None):
    """One commit to one partition by a kept table, or cold by its URL."""
    target, options = (tables[url], None) if url in tables else (url, storage)
    hooks = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
    arguments = {"mode": "append"} if verb == "append" else {"mode": "overwrite", "predicate": f"part = {part}"}
    rows = part_rows(part, part)
    ms, _ = timed(
        lambda: write_deltalake(target, rows, storage_options=options, post_commithook_properties=hooks, **arguments)
    )
    return {"ms": ms}


def read_part(url, predicate=None):
    table = tables[url]
    ms, rows = timed(lambda: pa.table(table.scan(predicate=predicate)).num_rows)
    return {"ms": ms, "rows": rows}


def warm(url, part):
    return {}


def contend(url, part, commits):
    """`commits` overwrites of one partition; what is given up is counted, as is the longest wait for one commit."""
    table = tables[url]
    failed, waits, cpu = 0, [], time.process_time()
    for number in range(commits):
        start = time.perf_counter()
        try:
            write_deltalake(table, part_rows(part, number), mode="overwrite", predicate=f"part = {part}")
        except Exception as error:  # noqa: BLE001 - a commit given up is what is counted
            print(f"given up: {error}", file=sys.stderr)
            failed += 1
            table.update_incremental()
        waits.append((time.perf_counter() - start) * 1000)
    return {"failed": failed, "longest": max(waits), "cpu": (time.process_time() - cpu) * 1000}


def versions():
    return {"python": sys.version.split()[0], "deltalake": deltalake.__version__, "pyarrow": pa.__version__}


OPERATIONS = {
    "load": load, "open": open_table, "keep": keep, "refresh": refresh, "plan": plan, "write": write,
    "overwriteDay": overwrite_day, "merge": merge, "scan": scan, "appendRows": append_rows, "checkpoint": checkpoint, "create": create,
    "writePart": write_part, "readPart": read_part, "warm": warm, "contend": contend, "versions": versions,
    **pipelines.OPERATIONS,
}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin.buffer:
        request = json.loads(line)
        try:
            answer = {"result": OPERATIONS[request["op"]](**request["args"])}
        except Exception as error:  # noqa: BLE001
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
