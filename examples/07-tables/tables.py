from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sql("create database if not exists shop")

# Each change of a Delta table creates a version; version 0 is the empty table.
spark.sql("drop table if exists shop.orders")
spark.sql("create table shop.orders (id int, amount decimal(10, 2) comment 'in euros') using delta")
spark.sql("insert into shop.orders values (1, 10), (2, 20)")
spark.sql("update shop.orders set amount = 25 where id = 2")

# Each change of an Iceberg table creates a snapshot. A tag names the latest one.
spark.sql("drop table if exists lake.shop.visits")
spark.sql("create table lake.shop.visits (page string, at timestamp) using iceberg partitioned by (days(at))")
spark.sql("insert into lake.shop.visits values ('home', timestamp '2026-01-01 09:00:00')")
spark.sql("alter table lake.shop.visits create tag monday")
spark.sql("insert into lake.shop.visits values ('home', timestamp '2026-01-02 09:00:00')")
