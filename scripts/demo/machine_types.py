"""Sums the machine types of a JSON lines file by cloud provider.

Usage: machine_types.py [file]. The file is one that the job names in `files`; Spark has put it beside the driver.
Prices are turned into whole ten-thousandths first, so that the sums do not depend on the order of the rows.
"""

import os
import sys

from pyspark import SparkFiles
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

name = sys.argv[1] if len(sys.argv) > 1 else "machine-types.jsonl"

schema = StructType(
    [
        StructField("cloud_provider", StructType([StructField("name", StringType())])),
        StructField("vCPUs", LongType()),
        StructField("machine_price_ycu", DoubleType()),
    ]
)

spark = SparkSession.builder.appName("machine-types").getOrCreate()
# This comes after the session, because the session fetches the file.
path = SparkFiles.get(name) if not os.path.isabs(name) else name

machines = spark.read.schema(schema).json("file://" + path).select(
    F.col("cloud_provider.name").alias("provider"),
    F.col("vCPUs").alias("vcpus"),
    F.floor(F.col("machine_price_ycu") * 10000 + 0.5).cast("long").alias("price"),
)
providers = (
    machines.groupBy("provider")
    .agg(F.count("*").alias("rows"), F.sum("vcpus").alias("vcpus"), F.sum(F.col("vcpus") * F.col("price")).alias("weighted"))
    .orderBy("provider")
    .collect()
)

print("Spark %s on %s, master %s" % (spark.version, spark.sparkContext.applicationId, spark.sparkContext.master))
for row in providers:
    mean = row.weighted / row.rows / 10000
    print("%-8s %5d machine types %7d vCPUs, mean of vCPUs x price %.4f" % (row.provider, row.rows, row.vcpus, mean))
print(
    "RESULT rows=%d total_vcpus=%d weighted_price=%d"
    % (sum(row.rows for row in providers), sum(row.vcpus for row in providers), sum(row.weighted for row in providers)),
    flush=True,
)
spark.stop()
