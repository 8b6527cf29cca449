from managed_spark import Client

workspace = Client().workspace("demo")
run = workspace.run("examples/01-first-job/sum.py", name="example-sum", cluster="demo-spark-3.5.9", args=["1000"])
run.result()

found = run.cost()
cost = found["cost"]
print(f"{cost['node_ms']} ms of nodes cost {cost['amount']:.6f} {cost['currency']}")
for interval in found["intervals"]:
    print(f"One of {interval['slots']} slots of node {interval['node_id']}, from {interval['from_date']}")
if sum(interval["share_ms"] for interval in found["intervals"]) == cost["node_ms"]:
    print("The intervals add up to the cost.")
