import os
from pathlib import Path

from managed_spark import Client, operations

NAME = "example-tables"
SITES = Path(".runtime/metastore")

# Delta tables are in the default catalog of Spark, and Iceberg tables in a catalog named lake. The metastore has both.
PACKAGES = ["io.delta:delta-spark_2.12:3.3.2", "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.10.1"]
SETTINGS = [
    "spark.sql.extensions="
    "io.delta.sql.DeltaSparkSessionExtension,org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.lake.type=hive",
    # The metastore of this example has no tables for locks. Remove this setting for a metastore that has them.
    "spark.hadoop.iceberg.engine.hive.lock-enabled=false",
]

client = Client()
workspace = client.workspace("demo")
demo = client.cluster("demo-spark-3.5.9").details

catalog = client.call(
    operations.create_hive_catalog,
    body={
        "name": NAME,
        "hiveSiteXml": (SITES / "hive-site.xml").read_text(),
        "coreSiteXml": (SITES / "core-site.xml").read_text(),
    },
)["metastore_catalog_id"]


def secret(name: str, **values: str) -> int:
    body = {"name": f"{NAME}-{name}", **values}
    query = {"workspace_id": workspace.id}
    return client.call(operations.create_workspace_secret, query=query, body=body)["workspace_secret_id"]


# Jobs read the store with the keys in core-site.xml; the catalog browser uses these secrets of the workspace.
login = secret("login", secret_type="HIVE BASIC", username="spark", password="unused")
keys = secret(
    "keys",
    secret_type="AWS ACCESS SECRET KEY PAIR",
    aws_access_key_id=os.environ["KEY_ID"],
    aws_secret_access_key=os.environ["SECRET"],
    aws_default_region="us-east-1",
)
client.call(
    operations.attach_workspace_catalog_secret,
    body={
        "metastore_catalog_id": catalog,
        "metastore_secrets_workspace_id": login,
        "object_storage_secrets_workspace_id": keys,
    },
)

cluster = client.clusters.create(
    name=NAME,
    cluster_type=demo["cluster_type"],
    cloud_env_id=demo["cloud_env"]["cloud_env_id"],
    cluster_conf_id=demo["cluster_conf"]["cluster_conf_id"],
    spark_infra_version_id=demo["spark_infra_version"]["spark_infra_version_id"],
    metastore_catalog_id=catalog,
    spark_config={"packages": PACKAGES, "conf": SETTINGS},
    min_instances=1,
    max_instances=1,
    is_spot_instance=False,
    enable_public_ip=False,
)


def show(title: str, statement: str) -> None:
    print(title, *workspace.sql(statement, cluster=NAME).rows[0])


try:
    cluster.start()
    workspace.run("examples/07-tables/tables.py", name=NAME, cluster=NAME).result()

    show("Delta, now:", "select count(*), sum(amount) from shop.orders")
    show("Delta, version 1:", "select count(*), sum(amount) from shop.orders version as of 1")
    show("Iceberg, now:", "select count(*), max(at) from lake.shop.visits")
    show("Iceberg, monday:", "select count(*), max(at) from lake.shop.visits version as of 'monday'")

    for table in ("orders", "visits"):
        columns = client.catalogs.columns(catalog, "shop", table, workspace=workspace.id)
        print(f"{table}:", ", ".join(f"{column['name']} {column['type_text']}" for column in columns))
finally:
    cluster.destroy()
    client.call(operations.disable_cluster, body={"cluster_id": cluster.id})
    # This also detaches the secrets.
    client.call(operations.delete_hive_catalog, query={"metastore_catalog_id": catalog})
    for one in (login, keys):
        query = {"workspace_id": workspace.id, "workspace_secret_id": one}
        client.call(operations.delete_workspace_secret, query=query)
