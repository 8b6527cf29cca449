"""The program for a scheduler: `nightly.py 2026-11-28`. It exits with code 1 if the report fails."""

import sys

from managed_spark import Client, RunFailed

day = sys.argv[1]
workspace = Client().workspace("demo")
job = workspace.define_job(
    "examples/12-scheduled-job/report.py", name="example-report", cluster="demo-spark-3.5.9", job_timeout_min=30
)
# A scheduler that starts this again for the same day finds the run of that day.
run = workspace.jobs.submit(job, args=[day], idempotency_key=f"example-report-{day}")
try:
    for line in run.follow():
        print(line)
    run.result()
except RunFailed as failure:
    sys.exit(f"{failure} Log: {failure.log_url}")
print("Run", run.id, "of", job, "is done")
