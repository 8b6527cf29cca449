"""Takes a driver through what every job needs, so that the classes are loaded and compiled when a run is handed over to it."""

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

spark = SparkSession.builder.getOrCreate()
spark.range(1000).groupBy((F.col("id") % 7).alias("k")).agg(F.sum("id").alias("s")).collect()
spark.createDataFrame([(1, "a"), (2, "b")], ["id", "name"]).filter("id > 1").collect()
spark.sparkContext.parallelize(range(10), 2).map(lambda value: value + 1).collect()
spark.stop()
