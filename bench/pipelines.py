"""What the bench asks of delta-rs where ours are pipelines: the same operations and answers as ours-pipelines.js."""
from __future__ import annotations

import datetime
import os
import shutil
import sys
import time

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

START = datetime.date(2024, 1, 1)
# The day that the input is of.
INPUT_DAY = datetime.date(2024, 1, 15)

loaded: dict[str, pa.Table] = {}


def load_day(path):
    with pa.OSFile(path) as file:
        loaded["day"] = pa.ipc.open_file(file).read_all()
    return {}


def rows_of_day(day: datetime.date, rows: int) -> pa.Table:
    """Rows of one day, made anew for each from the same input."""
    data = loaded["day"].slice(0, rows).combine_chunks()
    shift = (day - INPUT_DAY).days
    times = data["ts"].cast(pa.int64()).to_numpy() + shift * 86_400_000_000
    days = data["day"].cast(pa.int32()).to_numpy() + shift
    data = data.set_column(1, "ts", pa.array(times).cast(data.schema.field("ts").type))
    return data.set_column(2, "day", pa.array(days).cast(pa.date32()))


def cpu_ms() -> float:
    spent = os.times()
    return (spent.user + spent.system) * 1000


def backfill(url, days, rows, storage=None):
    """An overwrite of each day by its predicate, one call after the other, by a table that is kept."""
    if storage is None:
        shutil.rmtree(url, ignore_errors=True)
    DeltaTable.create(url, loaded["day"].schema, partition_by=["day"], storage_options=storage)
    table = DeltaTable(url, storage_options=storage)
    cpu, start = cpu_ms(), time.perf_counter()
    for number in range(days):
        day = START + datetime.timedelta(days=number)
        write_deltalake(table, rows_of_day(day, rows), mode="overwrite", predicate=f"day = '{day}'")
    ms, spent = (time.perf_counter() - start) * 1000, cpu_ms() - cpu
    return {"ms": ms, "cpu": spent, "rows": DeltaTable(url, storage_options=storage).count()}


def spark_open(url):
    """A session that knows nothing of the table lists its files."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../test/support/engines"))
    from engine_spark import session

    spark = session()
    spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()
    start = time.perf_counter()
    files = len(spark.read.format("delta").load(url).inputFiles())
    return {"ms": (time.perf_counter() - start) * 1000, "files": files}


OPERATIONS = {"loadDay": load_day, "backfill": backfill, "sparkOpen": spark_open}
