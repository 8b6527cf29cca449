"""A minimal job: one stage over generated rows, one shuffle, one line of result."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.appName("bench").getOrCreate()
rows = spark.range(100_000).groupBy((F.col("id") % 7).alias("k")).agg(F.sum("id").alias("s")).collect()
print("MASTER %s" % spark.sparkContext.master)
# A driver by hand needs only the secret to reach the cluster.
print("SECRET %s" % spark.sparkContext.getConf().get("spark.authenticate.secret"))
print("RESULT %d" % sum(row.k * row.s for row in rows), flush=True)
spark.stop()
