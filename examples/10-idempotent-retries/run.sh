set -eu
. examples/prelude.sh

upload examples/01-first-job/sum.py example-sum.py
define example-sum '"job_type": "Python3", "command": "example-sum.py"' '"command": "example-sum.py"'
# A scheduled program would use the date, such as nightly-2026-11-28.
KEY=example-$(date +%s)-$$
submit() { call "$JOBS" -H "Idempotency-Key: $KEY" -d "{\"job_conf_name\": \"example-sum\", \"arguments\": \"$1\"}"; }

FIRST=$(submit 10 | field job_id)
SECOND=$(submit 10 | field job_id)
[ "$FIRST" = "$SECOND" ] && echo 'Both requests returned the same run.'
printf 'Same key, other body: '
submit 20 2>/dev/null | field error_code
wait_for "$FIRST"
