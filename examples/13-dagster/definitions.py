"""An asset that is materialized on the platform."""

from pathlib import Path

from dagster import AssetExecutionContext, Definitions, MaterializeResult, ResourceParam, asset
from managed_spark_pipes import ManagedSparkPipesClient


@asset
def sevens(context: AssetExecutionContext, spark: ResourceParam[ManagedSparkPipesClient]) -> MaterializeResult:
    script = Path(__file__).with_name("sevens.py")
    invocation = spark.run(context=context, script=script, args=["1000"], extras={"wanted_by": "an example"})
    return invocation.get_materialize_result()


definitions = Definitions(
    assets=[sevens], resources={"spark": ManagedSparkPipesClient(workspace="demo", cluster="demo-spark-3.5.9")}
)
