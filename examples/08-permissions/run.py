import secrets
import time
from dataclasses import replace

from managed_spark import Client, Forbidden, operations

USER, VIEW = 3, 0

admin = Client()
workspace = admin.workspace("demo")
name, password = f"example-{time.time_ns()}", secrets.token_urlsafe(16)
account = {"username": name, "email": f"{name}@example.org", "password": password, "role_ids": [USER]}
guest_id = admin.call(operations.create_user, body=account)["user_id"]
guest = Client(settings=replace(admin.settings, token=None, username=name, password=password, tenant=None))


def attempt(what):
    try:
        return what()
    except Forbidden as refusal:
        return refusal.message


print(attempt(lambda: guest.workspace("demo").name))

path = {"workspace_id": workspace.id}
share = {"user_id": guest_id, "permission_id": VIEW}
admin.call(operations.assign_workspace_user_permission, path, body=share)
shared = guest.workspace("demo")
print("With VIEW: workspace", shared.name)
print(attempt(lambda: shared.jobs.submit("any")))

admin.call(
    operations.revoke_workspace_user_permission, {**path, "user_id": guest_id, "permission_id": VIEW}
)
print(attempt(lambda: guest.workspace("demo").name))
admin.call(operations.disable_user, {"user_id": guest_id})
