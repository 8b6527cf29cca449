set -eu
. examples/prelude.sh

upload examples/01-first-job/sum.py example-sum.py
define example-sum '"job_type": "Python3", "command": "example-sum.py"' '"command": "example-sum.py"'
JOB=$(call "$JOBS" -d '{"job_conf_name": "example-sum", "arguments": "1000"}' | field job_id)
wait_for "$JOB"
call "$API/workspace/$WORKSPACE_ID/run/$JOB/cost" | python3 -c '
import json, sys

found = json.load(sys.stdin)
cost = found["cost"]
print(cost["node_ms"], "ms of nodes cost", format(cost["amount"], ".6f"), cost["currency"])
for interval in found["intervals"]:
    print("One of", interval["slots"], "slots of node", str(interval["node_id"]) + ", from", interval["from_date"])
if sum(interval["share_ms"] for interval in found["intervals"]) == cost["node_ms"]:
    print("The intervals add up to the cost.")
'
