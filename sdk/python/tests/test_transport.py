from __future__ import annotations

import json
from typing import List

import httpx
import pytest
from conftest import Platform, page, refused

from managed_spark import (
    Client,
    Conflict,
    FunctionFailed,
    NotFound,
    Overloaded,
    Settings,
    Unauthenticated,
    Unreachable,
    operations,
)


def ok(body: object = None) -> httpx.Response:
    return httpx.Response(200, json={} if body is None else body)


def test_a_lost_answer_of_a_post_is_asked_for_with_the_same_key(client: Client, platform: Platform) -> None:
    platform.answers = [httpx.ReadError("reset"), refused(503, "DATABASE.BUSY"), ok({"job_id": "17"})]
    answer = client.call(operations.create_job, {"workspace_id": 3}, body={"job_conf_name": "sum"})
    keys = {request.headers["Idempotency-Key"] for request in platform.requests}
    assert (len(platform.requests), len(keys)) == (3, 1)
    assert answer["job_id"] == 17
    assert platform.requests[0].url.path == "/api/v1/workspace/3/spark/job"


def test_every_post_has_its_own_key_and_a_get_has_none(client: Client, platform: Platform) -> None:
    platform.answers = [ok(), ok(), ok()]
    for _ in range(2):
        client.call(operations.start_cluster, body={"cluster_id": 1})
    client.call(operations.get_cluster, query={"cluster_id": 1})
    first, second, read = (request.headers.get("Idempotency-Key") for request in platform.requests)
    assert first and second and first != second and read is None


def test_retry_after_is_kept(client: Client, platform: Platform, pauses: List[float]) -> None:
    platform.answers = [refused(429, "LOGIN.LIMITED", headers={"Retry-After": "7"}), ok()]
    client.user()
    assert len(pauses) == 1 and 7 <= pauses[0] <= 8


def test_retries_end(client: Client, platform: Platform, pauses: List[float]) -> None:
    platform.handler = lambda request: refused(503, "X.Y", headers={"Retry-After": "3600"})
    with pytest.raises(Overloaded) as raised:
        client.user()
    assert (raised.value.code, raised.value.correlation_id, pauses) == ("X.Y", "c-1", [])


def test_a_platform_that_never_answers_is_unreachable(client: Client, platform: Platform) -> None:
    client._transport.retry_seconds = 0
    platform.handler = lambda request: httpx.ConnectError("refused")
    with pytest.raises(Unreachable, match="No answer from https://spark.test to getUserInfo: refused. Check that the platform is running"):
        client.user()


def test_a_call_of_a_function_is_repeated_only_if_it_was_not_carried_out(client: Client, platform: Platform) -> None:
    function = client._transport
    path = {"workspace_id": 1, "job_id": 2}
    platform.answers = [refused(429, "FUNCTION.FULL"), httpx.ConnectError("refused"), ok({"sum": 1})]
    assert function.call(operations.invoke_function, path, body={}, repeatable=False) == {"sum": 1}
    for lost in (httpx.ReadError("reset"), refused(503, "X.Y")):
        platform.requests.clear()
        platform.answers = [lost]
        with pytest.raises((Unreachable, Overloaded)):
            function.call(operations.invoke_function, path, body={}, repeatable=False)
        assert len(platform.requests) == 1


def test_a_delete_whose_answer_was_lost_has_deleted(client: Client, platform: Platform) -> None:
    files = {"workspace_id": 1, "file_path": "a"}
    platform.answers = [httpx.ReadError("reset"), refused(404, "FILE.NOT_FOUND")]
    client.call(operations.delete_workspace_file, query=files)
    platform.answers = [refused(404, "FILE.NOT_FOUND")]
    with pytest.raises(NotFound):
        client.call(operations.delete_workspace_file, query=files)


def test_errors_have_a_class_and_a_code(client: Client, platform: Platform) -> None:
    platform.answers = [refused(409, "JOB.INVALID_STATE"), refused(422, "FUNCTION.FAILED", type="KeyError", lines=["a:1"])]
    with pytest.raises(Conflict, match="JOB.INVALID_STATE: No."):
        client.user()
    with pytest.raises(FunctionFailed) as raised:
        client.user()
    assert (raised.value.type, raised.value.lines) == ("KeyError", ["a:1"])


def test_a_page_of_a_proxy_is_an_error_too(client: Client, platform: Platform) -> None:
    platform.answers = [httpx.Response(403, text="<html>")]
    with pytest.raises(Exception, match="The platform answered 403 Forbidden"):
        client.user()


def test_a_success_of_another_server_says_so(client: Client, platform: Platform) -> None:
    page_of_a_proxy = httpx.Response(200, html="<html>Log in</html>")
    for ask in (client.user, lambda: next(client.clusters.list())):
        platform.answers = [page_of_a_proxy]
        with pytest.raises(Unreachable, match=r"is not from the platform \(text/html.*Check the URL https://spark.test"):
            ask()
    platform.answers = [page_of_a_proxy]
    with login_client(platform) as other, pytest.raises(Unreachable, match="The answer to login is not from the platform"):
        other.user()


def test_pages_are_read_as_they_are_needed(client: Client, platform: Platform) -> None:
    platform.answers = [page([{"cluster_id": 1, "name": "a"}], following=2), page([{"cluster_id": 2, "name": "b"}])]
    found = client.clusters.list()
    assert (next(found).id, len(platform.requests)) == (1, 1)
    assert [cluster.name for cluster in found] == ["b"]
    assert [request.url.params["pageNumber"] for request in platform.requests] == ["1", "2"]


def test_ids_are_numbers_and_infinity_is_none(client: Client, platform: Platform) -> None:
    written = {"workspace_id": "5", "name": "5", "to_date": "infinity"}
    read = {"workspace_id": 5, "name": "infinity", "to_date": "infinity"}
    platform.answers = [ok(written), ok(read)]
    workspace = client.create_workspace("5")
    assert (workspace.id, workspace.details["to_date"], workspace.name) == (5, None, "infinity")
    assert platform.requests[1].url.params["workspace_id"] == "5"


def test_nested_ids_are_numbers(client: Client, platform: Platform) -> None:
    platform.answers = [page([{"cluster_id": 1, "name": "a", "nodes": [{"to_date": "infinity"}], "labels": {"to_date": "infinity"}}])]
    details = next(client.clusters.list()).details
    assert (details["nodes"][0]["to_date"], details["labels"]) == (None, {"to_date": "infinity"})


def login_client(platform: Platform, tenant: str = "acme") -> Client:
    settings = Settings("https://spark.test", username="ada", password="secret", tenant=tenant)
    return Client(settings=settings, http=platform)


def test_a_login_selects_the_tenant_and_is_repeated_when_the_session_ends(platform: Platform) -> None:
    tenants = page([{"tenant_id": "other", "name": "x"}, {"tenant_id": "0-1", "name": "acme"}])
    login = [ok({"token": "t-9"}), tenants, ok()]
    again = page([{"tenant_id": "0-1", "name": "acme"}])
    platform.answers = [*login, ok(), refused(401, "AUTH.ENDED"), ok({"token": "t-10"}), again, ok(), ok()]
    with login_client(platform) as client:
        client.user()
        client.user()
    paths = [request.url.path.removeprefix("/api/v1") for request in platform.requests]
    one = ["/login", "/user/tenants", "/user/select/0-1"]
    assert paths == [*one, "/user/info", "/user/info", *one, "/user/info"]
    assert json.loads(platform.requests[0].content) == {"username": "ada", "password": "secret"}
    assert "Authorization" not in platform.requests[0].headers
    assert platform.requests[-1].headers["Authorization"] == "Bearer t-10"


def test_a_refused_login_is_not_repeated(platform: Platform) -> None:
    platform.answers = [refused(401, "AUTH.INVALID")]
    with login_client(platform) as client, pytest.raises(Unauthenticated):
        client.user()


def test_a_path_cannot_leave_its_place(client: Client, platform: Platform) -> None:
    platform.answers = [ok()]
    client.call(operations.get_job_log, {"workspace_id": 1, "job_id": 2, "log_type": "../../x?y"})
    assert platform.requests[0].url.raw_path.endswith(b"/log/..%2F..%2Fx%3Fy")
