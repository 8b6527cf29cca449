# Read by the examples for curl: the variables of the quickstart, and three helpers.
. .runtime/client.env
JOBS=$API/workspace/$WORKSPACE_ID/spark/job

# Sends JSON, and fails with the answer if it is refused.
call() { curl -sS --fail-with-body -w '\n' -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }

# Prints one field of the JSON that it reads.
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

# Uploads a file to a path in the workspace.
upload() {
  curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/octet-stream' --data-binary "@$1" \
    "$API/workspace/files?workspace_id=$WORKSPACE_ID&path=$2&overwrite=true" >/dev/null
}

# Describes a job, or changes the one of this name, by its fields in JSON.
describe() {
  call "$JOBS/conf" -d "{\"name\": \"$1\", \"cluster_name\": \"$CLUSTER\", $2}" >/dev/null 2>&1 ||
    call -X PUT "$JOBS/conf?job_conf_name=$1" -d "{\"cluster_name\": \"$CLUSTER\", $3}" >/dev/null
}

# Returns when a run has ended.
ended() { while call "$JOBS/$1" | field job_status | grep -qE 'SUBMITTED|RUNNING'; do sleep 1; done; }
