"""Spark with Delta: one session in local mode, started by the first operation and kept until the process ends."""
from __future__ import annotations

import functools
import json
import os
import tempfile

from canonical import decode_rows, encode_table

DELTA = "io.delta:delta-spark_4.1_2.13:4.3.0"
SETTINGS = {
    "spark.jars.packages": DELTA,
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.driver.memory": "2g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}


@functools.cache
def session():
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    scratch = tempfile.mkdtemp(prefix="spark-")
    builder = SparkSession.builder.master("local[2]").appName("engines")
    for key, value in {**SETTINGS, "spark.sql.warehouse.dir": f"{scratch}/warehouse", "spark.local.dir": scratch}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def quote_path(url) -> str:
    return "delta.`" + url.replace("`", "``") + "`"


def answer(frame) -> dict:
    return {"schema": json.loads(frame.schema.json()), "lines": encode_table(frame.toArrow())}


def read(url, version=None, where=None) -> dict:
    reader = session().read.format("delta")
    frame = (reader if version is None else reader.option("versionAsOf", version)).load(url)
    return answer(frame if where is None else frame.where(where))


def write(url, schema, lines, mode="append", partitionBy=None, options=None) -> int:
    """`options`: those of Spark's writer, e.g. `partitionOverwriteMode` or `replaceWhere`."""
    from pyspark.sql.types import StructType

    frame = session().createDataFrame(decode_rows(schema, lines), schema=StructType.fromJson(schema))
    writer = frame.coalesce(1).write.format("delta").mode(mode).options(**(options or {}))
    (writer.partitionBy(*partitionBy) if partitionBy else writer).save(url)
    return version_of(url)


def sql(text, settings=None) -> list[dict]:
    """The rows that a statement answers, as Spark writes them as JSON: what commands answer does not always fit Arrow."""
    spark = session()
    before = {key: spark.conf.get(key, None) for key in settings or {}}
    for key, value in (settings or {}).items():
        spark.conf.set(key, value)
    try:
        return [json.loads(line) for line in spark.sql(text).toJSON().collect()]
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)


def version_of(url) -> int:
    return history(url, 1)[0]["version"]


def history(url, limit=None) -> list[dict]:
    return sql(f"DESCRIBE HISTORY {quote_path(url)}" + (f" LIMIT {limit}" if limit else ""))


def detail(url) -> dict:
    return sql(f"DESCRIBE DETAIL {quote_path(url)}")[0]


def create(url, columns, partitionBy) -> None:
    """By the builder: SQL takes no generated or identity columns for a table without a name."""
    from pyspark.sql.classic.column import _to_seq

    tables, spark = session()._jvm.io.delta.tables.DeltaTable, session()._jsparkSession
    builder = tables.create(spark).location(url)
    for column in columns:
        field = tables.columnBuilder(spark, column["name"]).dataType(column["type"])
        if "generated" in column:
            field = field.generatedAlwaysAs(column["generated"])
        if column.get("identity"):
            field = field.generatedAlwaysAsIdentity()
        builder = builder.addColumn(field.build())
    builder.partitionedBy(_to_seq(session().sparkContext, partitionBy)).execute()


def checkpoint(url) -> None:
    log = session()._jvm.org.apache.spark.sql.delta.DeltaLog.forTable(session()._jsparkSession, url)
    none = session()._jvm.scala.Option.empty()
    log.checkpoint(log.update(False, none, none), none)


OPERATIONS = {
    "create": create,
    "read": read,
    "write": write,
    "sql": sql,
    "version": version_of,
    "history": history,
    "detail": detail,
    "checkpoint": checkpoint,
}
