set -eu
. examples/prelude.sh

# Role 3 is USER, who can do nothing in a workspace that is not shared with them.
NAME=example-$(date +%s)-$$
SECRET=$(python3 -c 'import secrets; print(secrets.token_urlsafe(16))')
GUEST=$(call "$API/platform/shared/admin/user" -d "{\"username\": \"$NAME\", \"email\": \"$NAME@example.org\",
  \"password\": \"$SECRET\", \"role_ids\": [3]}" | field user_id)
GUEST_TOKEN=$(call "$API/login" -d "{\"username\": \"$NAME\", \"password\": \"$SECRET\"}" | field token)
as_guest() { curl -sS -H "Authorization: Bearer $GUEST_TOKEN" -H 'Content-Type: application/json' "$@"; }

as_guest "$API/workspace?workspace_id=$WORKSPACE_ID" | field error_message

# 0 is VIEW, 1 RUN, 2 EDIT and 3 MANAGE; each includes those before it.
call "$API/ac/workspace/$WORKSPACE_ID/user" -d "{\"user_id\": $GUEST, \"permission_id\": 0}" >/dev/null
echo "With VIEW: workspace $(as_guest "$API/workspace?workspace_id=$WORKSPACE_ID" | field name)"
as_guest "$JOBS" -d '{"job_conf_name": "any"}' | field error_message

call -X DELETE "$API/ac/workspace/$WORKSPACE_ID/user/$GUEST/permission/0" >/dev/null
as_guest "$API/workspace?workspace_id=$WORKSPACE_ID" | field error_message
call -X PUT "$API/platform/shared/admin/user/$GUEST/disable" >/dev/null
