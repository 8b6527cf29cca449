from managed_spark import Client

workspace = Client().workspace("demo")
run = workspace.run("examples/01-first-job/sum.py", name="example-sum", cluster="demo-spark-3.5.9", args=["1000"])
for line in run.follow():
    print(line)
done = run.result()
print(f"{done['job_status']}, with {run.metrics()['totals']['tasks']} Spark tasks")
