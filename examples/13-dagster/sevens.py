"""The script that runs on the cluster."""

import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()

# Spark has put the module on Python's path, together with the session.
from dagster_pipes import PipesCliArgsParamsLoader, open_dagster_pipes  # noqa: E402

with open_dagster_pipes(params_loader=PipesCliArgsParamsLoader()) as pipes:
    count = spark.range(1, int(sys.argv[1]) + 1).where("id % 7 = 0").count()
    pipes.log.info(f"{count} numbers are divisible by 7")
    pipes.report_asset_materialization(metadata={"count": count, "wanted_by": pipes.get_extra("wanted_by")})
