set -eu
. examples/prelude.sh

upload examples/01-first-job/sum.py example-sum.py
define example-sum '"job_type": "Python3", "command": "example-sum.py"' '"command": "example-sum.py"'
JOB=$(call "$JOBS" -d '{"job_conf_name": "example-sum", "arguments": "1000"}' | field job_id)
# The response ends when the job does.
call "$JOBS/$JOB/log/stdout?follow=true"
call "$JOBS/$JOB" | field job_status
