import time

from managed_spark import ApiError, Client

workspace = Client().workspace("demo")
job = workspace.define_job("examples/01-first-job/sum.py", name="example-sum", cluster="demo-spark-3.5.9")
# A scheduled program would use the date, such as nightly-2026-11-28.
key = f"example-{time.time_ns()}"

first = workspace.jobs.submit(job, args=["10"], idempotency_key=key)
second = workspace.jobs.submit(job, args=["10"], idempotency_key=key)
if first.id == second.id:
    print("Both requests returned the same run.")
try:
    workspace.jobs.submit(job, args=["20"], idempotency_key=key)
except ApiError as refusal:
    print("Same key, other body:", refusal.code)
first.result()
