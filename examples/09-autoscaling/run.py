import time

from managed_spark import Client, operations

NAME = "example-autoscaling"

client = Client()
workspace = client.workspace("demo")
demo = client.cluster("demo-spark-3.5.9").details
cluster = client.clusters.create(
    name=NAME,
    cluster_type=demo["cluster_type"],
    cloud_env_id=demo["cloud_env"]["cloud_env_id"],
    cluster_conf_id=demo["cluster_conf"]["cluster_conf_id"],
    spark_infra_version_id=demo["spark_infra_version"]["spark_infra_version_id"],
    min_instances=1,
    max_instances=2,
    # Minutes before an idle node is removed; 0 removes it at once.
    clean_up_timeout=0,
    engine_cluster_spark_config={"max_parallel_spark_job_execution_per_instance": 1},
    is_spot_instance=False,
    enable_public_ip=False,
)


def events():
    """The states of the cluster, the oldest first."""
    found = client.pages(operations.list_cluster_states, query={"cluster_id": cluster.id})
    return sorted(found, key=lambda event: event["cluster_status_id"])


try:
    cluster.start()
    script = workspace.define_job("examples/09-autoscaling/wait.py", name=NAME, cluster=NAME, driver_memory="512m")
    runs = [workspace.jobs.submit(script) for _ in range(2)]
    for run in runs:
        run.wait_until_running(timeout=600)
    print("Both jobs are running, each on its own node.")
    for run in runs:
        run.kill()
        run.wait()
    give_up = time.monotonic() + 600
    while [event["cluster_status"] for event in events()][-2:] != ["RESIZING_DOWN", "RUNNING"]:
        if time.monotonic() > give_up:
            raise TimeoutError("The cluster has not shrunk within ten minutes.")
        time.sleep(1)
    for event in events():
        print(f"{event['cluster_status']}: {event['reason']}")
finally:
    cluster.destroy()
    client.call(operations.disable_cluster, body={"cluster_id": cluster.id})
