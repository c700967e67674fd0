"""Spark on many small tables at once: what random sequences do, and what every version of a table holds."""
from __future__ import annotations

import functools
import threading
from concurrent.futures import ThreadPoolExecutor

from canonical import encode_table
from engine_spark import quote_path, session

# Most of a small statement is planning on one core.
THREADS = 3
# For statements of a few rows, compiling them costs more than it saves.
SETTINGS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.shuffle.partitions": "1",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.merge.materializeSource": "none",
}


OWN = threading.local()


@functools.cache
def threads() -> ThreadPoolExecutor:
    session()
    return ThreadPoolExecutor(THREADS)


def play(tables) -> list:
    """Each table's statements, in order, a list a step; the tables side by side. The versions after each step, or the error of the first that failed."""
    return on_threads(play_one, tables)


def own_session():
    """The session of this thread."""
    if not hasattr(OWN, "session"):
        OWN.session = session().newSession()
        for key, value in SETTINGS.items():
            OWN.session.conf.set(key, value)
    return OWN.session


def play_one(url, steps) -> dict:
    spark = own_session()
    versions = []
    for number, statements in enumerate(steps):
        for statement in statements:
            try:
                run(spark, url, statement)
            except Exception as error:  # noqa: BLE001 - the caller says which step it was
                return {"versions": versions, "step": number, "error": f"{type(error).__name__}: {error}"}
        versions.append(version_of(spark, url))
    return {"versions": versions}


def run(spark, url, statement) -> None:
    if "sql" in statement:
        spark.sql(statement["sql"])
        return
    frame = spark.sql(statement["select"]).coalesce(1)
    writer = frame.write.format("delta").mode(statement["mode"]).options(**statement["options"])
    if "partitionBy" in statement:
        writer = writer.partitionBy(*statement["partitionBy"])
    writer.save(url)


def version_of(spark, url) -> int:
    log = spark._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(spark._jsparkSession, url)
    none = spark._jvm.scala.Option.empty()
    return log.update(False, none, none).version()


def read(tables) -> list:
    """For each table the rows of each of its versions asked for, unsorted."""
    return on_threads(read_versions, tables)


def read_versions(url, versions) -> list:
    spark = own_session()
    by_schema = {}
    for version in dict.fromkeys(versions):
        frame = spark.sql(f"SELECT {version} AS _version, * FROM {quote_path(url)} VERSION AS OF {version}")
        by_schema.setdefault(frame.schema.json(), []).append(frame)
    lines = {version: [] for version in versions}
    for frames in by_schema.values():
        table = functools.reduce(lambda a, b: a.unionAll(b), frames).coalesce(1).toArrow()
        for version, line in zip(table.column(0).to_pylist(), encode_table(table.drop_columns(["_version"]))):
            lines[version].append(line)
    return [lines[version] for version in versions]


def on_threads(work, tables) -> list:
    return [future.result() for future in [threads().submit(work, **table) for table in tables]]


OPERATIONS = {"play": play, "read": read}
