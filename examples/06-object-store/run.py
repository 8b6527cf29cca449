import base64
import json
import os

from managed_spark import Client, operations

NAME = "example-store"
S3 = 3
KEYS = {
    "AWS_ACCESS_KEY_ID": os.environ["KEY_ID"],
    "AWS_SECRET_ACCESS_KEY": os.environ["SECRET"],
    "S3_ENDPOINT": os.environ["S3_URL"],
}
BUCKET = os.environ["BUCKET"]

client = Client()
workspace = client.workspace("demo")
demo = client.cluster("demo-spark-3.5.9").details

# The keys are stored encrypted, and never returned.
encoded = base64.b64encode(json.dumps(KEYS).encode()).decode()
credentials = client.call(
    operations.create_credentials_conf,
    body={"name": NAME, "credential_type_id": 5, "base64_encoded_credentials": {"encoded": encoded}},
)["credentials_conf_id"]
mount = client.call(
    operations.create_mount,
    body={
        "name": NAME,
        "storage_type_id": S3,
        "credentials_config_id": credentials,
        "source": f"{BUCKET}/example",
        "mount_point": "/mnt/example",
    },
)["mount_id"]

# The jobs of a cluster see its mounts.
cluster = client.clusters.create(
    name=NAME,
    cluster_type=demo["cluster_type"],
    cloud_env_id=demo["cloud_env"]["cloud_env_id"],
    cluster_conf_id=demo["cluster_conf"]["cluster_conf_id"],
    spark_infra_version_id=demo["spark_infra_version"]["spark_infra_version_id"],
    mount_ids=[mount],
    min_instances=1,
    max_instances=1,
    is_spot_instance=False,
    enable_public_ip=False,
)
try:
    cluster.start()
    run = workspace.run("examples/06-object-store/words.py", name=NAME, cluster=NAME)
    for line in run.follow():
        print(line)
    run.result()
finally:
    cluster.destroy()
    client.call(operations.disable_cluster, body={"cluster_id": cluster.id})
    client.call(operations.delete_mount, query={"mount_id": mount})
    client.call(operations.delete_credentials_conf, query={"credentials_conf_id": credentials})
