import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print("The sum is", spark.range(int(sys.argv[1])).selectExpr("sum(id)").first()[0])
