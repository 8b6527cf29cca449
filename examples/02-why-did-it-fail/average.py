import sys

from pyspark.sql import SparkSession

SparkSession.builder.getOrCreate()
numbers = [int(word) for word in sys.argv[1:]]
print("The average is", sum(numbers) / len(numbers))
