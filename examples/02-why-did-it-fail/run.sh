set -eu
. examples/prelude.sh

FOLDER=examples/02-why-did-it-fail
STATEMENTS=$(python3 -c 'import json, sys; print(json.dumps(open(sys.argv[1]).read()))' $FOLDER/orders.sql)
upload $FOLDER/average.py example-average.py
define example-average '"job_type": "Python3", "command": "example-average.py"' '"command": "example-average.py"'
define example-missing '"job_type": "Python3", "command": "nope.py"' '"command": "nope.py"'
define example-orders '"job_type": "SQL", "rawScalaCode": '"$STATEMENTS" '"rawScalaCode": '"$STATEMENTS"

for name in example-average example-missing example-orders; do
  JOB=$(call "$JOBS" -d "{\"job_conf_name\": \"$name\"}" | field job_id)
  wait_for "$JOB"
  call "$JOBS/$JOB" | field reason_code
  call "$JOBS/$JOB" | field reason
done
