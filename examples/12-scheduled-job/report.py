"""Counts the orders of a day: `report.py 2026-11-28`. It runs the same on a laptop and on a cluster."""

import sys

from pyspark.sql import SparkSession

day = sys.argv[1]
spark = SparkSession.builder.getOrCreate()
orders = spark.range(1000).selectExpr("id", "date_add(date'2026-11-01', cast(id % 30 as int)) as day")
print(day, "had", orders.where(f"day = date'{day}'").count(), "orders")
