set -eu
. examples/prelude.sh

upload examples/05-function/serve.py example-sevens/serve.py
SETTINGS='"platform_functions_script_path": "example-sevens/serve.py", "platform_functions_function_name": "sevens"'
define example-sevens '"job_type": "PLATFORM_FUNCTIONS", '"$SETTINGS" "$SETTINGS"
JOB=$(call "$JOBS" -d '{"job_conf_name": "example-sevens"}' | field job_id)
while call "$JOBS/$JOB" | field job_status | grep -q SUBMITTED; do sleep 1; done

call "$JOBS/$JOB/invoke" -d '{"limit": 1000}'
call "$JOBS/$JOB/invoke" -d '{"count": 1000}' 2>/dev/null | field error_code

# The function holds a slot of the cluster until it is stopped.
call -X POST "$JOBS/kill/$JOB" >/dev/null
while call "$JOBS/$JOB" | field job_status | grep -qE 'RUNNING|STOPPING'; do sleep 1; done
