from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
words = spark.read.text("/mnt/example/words.txt")
lengths = words.selectExpr("value", "length(value) as length")
lengths.coalesce(1).write.mode("overwrite").parquet("/mnt/example/lengths")
print("Wrote", spark.read.parquet("/mnt/example/lengths").count(), "rows")
