"""Runs typical steps of jobs so that their classes are in the archive: read, write, SQL, a join, Python functions.

The arguments are the files in which driver and executor list the classes that they load. The driver writes the archive, so
it loads the classes of the executor, too.
"""

import contextlib
import sys
import tempfile

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("class-archive").getOrCreate()
with tempfile.TemporaryDirectory() as folder:
    rows = spark.range(1000).withColumn("k", F.col("id") % 7).withColumn("name", F.concat(F.lit("n"), F.col("id")))
    rows.write.parquet(folder + "/parquet")
    rows.write.csv(folder + "/csv", header=True)
    rows.write.json(folder + "/json")
    parquet = spark.read.parquet(folder + "/parquet")
    csv = spark.read.csv(folder + "/csv", header=True, inferSchema=True)
    parquet.createOrReplaceTempView("rows")
    spark.sql("SELECT k, count(*) AS n, sum(id) AS s FROM rows WHERE id > 10 GROUP BY k ORDER BY s DESC").collect()
    parquet.join(csv, "id").groupBy(parquet["k"]).agg(F.countDistinct(csv["name"]), F.avg("id")).collect()
    spark.read.json(folder + "/json").count()
    spark.range(10).select(F.udf(lambda value: value + 1, "long")("id")).collect()
    pairs = spark.sparkContext.parallelize(range(100), 2).map(lambda value: (value % 3, value))
    pairs.reduceByKey(lambda a, b: a + b).collect()
jvm = spark.sparkContext._gateway.jvm
spark.stop()
loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
driver, executor = ({line.split()[0] for line in open(path)} for path in sys.argv[1:])
for name in executor - driver:
    # Neither classes that the executor generated nor the entries of lambdas have a name to load them by.
    with contextlib.suppress(Py4JJavaError):
        jvm.java.lang.Class.forName(name.replace("/", "."), False, loader)
