# Takes a day, such as 2026-11-28. It exits with code 1 if the report fails.
set -eu
. examples/prelude.sh

DAY=$1
upload examples/12-scheduled-job/report.py example-report.py
define example-report '"job_type": "Python3", "command": "example-report.py"' '"command": "example-report.py"'
# A scheduler that starts this again for the same day finds the run of that day.
JOB=$(call "$JOBS" -H "Idempotency-Key: example-report-sh-$DAY" \
  -d "{\"job_conf_name\": \"example-report\", \"arguments\": \"$DAY\"}" | field job_id)
wait_for "$JOB"
call "$JOBS/$JOB/log/stdout"
call "$JOBS/$JOB" | field job_status | grep DONE
