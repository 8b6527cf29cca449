"""The job of the measurements beside peers, in Python: one stage over generated rows, one shuffle, one line of result."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("peers").getOrCreate()
rows = spark.range(100_000).groupBy((F.col("id") % 7).alias("k")).agg(F.sum("id").alias("s")).collect()
print("RESULT %d" % sum(row.k * row.s for row in rows), flush=True)
spark.stop()
