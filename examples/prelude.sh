# Sourced by the curl examples: the variables of the quickstart, and helpers.
. .runtime/client.env
JOBS=$API/workspace/$WORKSPACE_ID/spark/job

# Sends JSON; on an error, prints the answer and fails.
call() { curl -sS --fail-with-body -w '\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }

# Prints one field of the JSON that it reads.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# Uploads a file to a path in the workspace.
upload() {
  curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/octet-stream' --data-binary "@$1" \
    "$API/workspace/files?workspace_id=$WORKSPACE_ID&path=$2&overwrite=true" >/dev/null
}

# Creates a job, or updates the one with this name, from its fields in JSON.
define() {
  call "$JOBS/conf" -d "{\"name\": \"$1\", \"cluster_name\": \"$CLUSTER\", $2}" >/dev/null 2>&1 ||
    call -X PUT "$JOBS/conf?job_conf_name=$1" -d "{\"cluster_name\": \"$CLUSTER\", $3}" >/dev/null
}

# Waits until a run has ended.
wait_for() { while call "$JOBS/$1" | field job_status | grep -qE 'SUBMITTED|RUNNING'; do sleep 1; done; }
