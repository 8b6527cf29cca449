"""Requests to the platform: login, retries, errors and pages."""

from __future__ import annotations

import json
import logging
import re
import time
import uuid
from typing import Any, AsyncIterator, Callable, Dict, List, Mapping, Optional, Tuple, TypeVar, Union
from urllib.parse import quote

import httpx

from .._generated import operations as ops
from .._operation import Operation, PagedOperation, convert
from .._ports import async_sleep
from .._unpacking import ACCEPTED_ENCODING, Unpacking
from .._waiting import backoff
from ..errors import ApiError, ConfigurationError, ManagedSparkError, Unreachable, error_of
from ..settings import LOCAL_HOSTS, Settings, checked_token
from ..version import VERSION

T = TypeVar("T")

#: A single id, or a name.
Ref = Union[int, str]
Query = Mapping[str, Any]
Content = Callable[[], AsyncIterator[bytes]]

logger = logging.getLogger("managed_spark")
RETRYING = "Retrying %s in %.1f s: %s"

#: Time for which a request is retried while the platform does not answer or is overloaded.
RETRY_SECONDS = 60.0
RETRIED_STATUSES = frozenset({429, 502, 503})
#: Headers that describe the encoded body, and do not apply to the decoded one.
ENCODING_HEADERS = frozenset({b"content-encoding", b"content-length", b"transfer-encoding"})
#: A token is renewed this long before it expires, so that none expires on its way to the platform.
RENEWAL_MARGIN_SECONDS = 60.0
PAGE_SIZE = 100
#: Limits of the size of an answer, decompressed, and of the time to read it, so that neither a server nor a proxy can
#: exhaust the memory.
MAX_ANSWER_BYTES = 256 << 20
MAX_ANSWER_SECONDS = 600.0
#: Limit of the size of an error answer.
MAX_ERROR_BYTES = 1 << 20
#: Characters that an Idempotency-Key may have, as other headers.
IDEMPOTENCY_KEY = re.compile(r"[\x20-\x7e]+")
#: Error code of a name that another record already has.
NAME_TAKEN = "RECORD.DUPLICATE_NAME"


class AsyncTransport:
    def __init__(self, settings: Settings, http: Optional[httpx.AsyncBaseTransport] = None) -> None:
        self.settings = settings
        self.retry_seconds = RETRY_SECONDS
        self.answer_seconds = MAX_ANSWER_SECONDS
        self.answer_bytes = MAX_ANSWER_BYTES
        self._token = settings.token
        self._renew_at: Optional[float] = None
        self._http = httpx.AsyncClient(
            base_url=settings.url,
            timeout=httpx.Timeout(60.0, connect=10.0),
            transport=http,
            # Plain HTTP is allowed to this machine; a proxy of the environment would take the request to another one.
            mounts=None if http else {f"all://{host}": None for host in LOCAL_HOSTS},
            headers={"User-Agent": f"managed-spark-python/{VERSION}", "Accept-Encoding": ACCEPTED_ENCODING},
        )

    def set_timeout(self, seconds: float) -> None:
        self.retry_seconds = self.answer_seconds = seconds
        self._http.timeout = httpx.Timeout(seconds)

    async def close(self) -> None:
        await self._http.aclose()

    async def call(
        self,
        operation: Operation[T],
        path: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Query] = None,
        body: Any = None,
        content: Optional[Content] = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        repeatable: bool = True,
        timeout: Optional[float] = None,
    ) -> T:
        """Returns the converted JSON. A POST carries an Idempotency-Key, so that it takes effect only once, however often
        it is sent.
        """
        response = await self.send(
            operation,
            path,
            query=query,
            body=body,
            content=content,
            headers=headers,
            idempotency_key=idempotency_key,
            repeatable=repeatable,
            timeout=timeout,
        )
        value = self._read(operation, response) if response.content else None
        converted: Any = convert(value, operation.shape, ops.SHAPES)
        answer: T = converted
        return answer

    async def pages(
        self, operation: PagedOperation[T], path: Optional[Mapping[str, Any]] = None, *, query: Optional[Query] = None
    ) -> AsyncIterator[T]:
        """Yields the records of all pages; the next page is read when it is needed."""
        number: Optional[int] = 1
        while number is not None:
            asked = {"limit": PAGE_SIZE, **(query or {}), "pageNumber": number}
            records, number = self._page(operation, await self.send(operation, path, query=asked), number)
            for record in records:
                yield record

    def _page(self, operation: PagedOperation[T], response: httpx.Response, number: int) -> Tuple[List[T], Optional[int]]:
        """Returns the records of a page and the number of the next page. A server that repeats pages must not keep the client
        in an endless loop.
        """
        page = self._read(operation, response)
        if not isinstance(page, dict) or not isinstance(page.get("data"), list):
            raise self._foreign(operation, response)
        records: List[T] = convert(page["data"], operation.shape and f"[{operation.shape}]", ops.SHAPES)
        place = page.get("result_set")
        following = place.get("next_page") if isinstance(place, dict) else None
        return records, following if records and isinstance(following, int) and following > number else None

    def _read(self, operation: Operation[Any], response: httpx.Response) -> Any:
        try:
            return json.loads(response.content)
        except (ValueError, RecursionError):
            raise self._foreign(operation, response) from None

    def _foreign(self, operation: Operation[Any], response: httpx.Response) -> Unreachable:
        kind = response.headers.get("Content-Type", "no type")
        return Unreachable(
            f"The answer to {operation.name} is not from the platform ({kind}). Check the URL {self.settings.url}."
        )

    async def send(
        self,
        operation: Operation[Any],
        path: Optional[Mapping[str, Any]] = None,
        *,
        query: Optional[Query] = None,
        body: Any = None,
        content: Optional[Content] = None,
        headers: Optional[Mapping[str, str]] = None,
        idempotency_key: Optional[str] = None,
        repeatable: bool = True,
        timeout: Optional[float] = None,
        stream: bool = False,
        is_bounded: bool = True,
    ) -> httpx.Response:
        """Returns a successful response. With `stream`, the caller reads its content and closes it."""
        sent = dict(headers or {})
        if operation.method == "POST":
            sent["Idempotency-Key"] = _key(idempotency_key)
        give_up = time.monotonic() + self.retry_seconds
        attempt = 0
        is_lost = False
        is_renewed = False
        while True:
            attempt += 1
            failure: ManagedSparkError
            pause: Optional[float]
            token = await self.token()
            sent["Authorization"] = f"Bearer {token}"
            try:
                response = await self._once(operation, path, query, body, content, sent, timeout, stream, is_bounded)
            except httpx.RequestError as error:
                failure = _unanswered(operation, self.settings.url, error)
                is_unsent = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
                is_lost = is_lost or not is_unsent
                pause = backoff(attempt) if repeatable or is_unsent else None
            else:
                if response.is_success:
                    return response
                failure = error_of(response)
                if response.status_code == 401 and self.settings.password and not is_renewed:
                    # The session ended early, for example because the password was changed elsewhere.
                    is_renewed = True
                    self._token = None
                    continue
                if response.status_code == 404 and operation.method == "DELETE" and is_lost:
                    # An earlier attempt, whose answer was lost, has deleted it.
                    return httpx.Response(200)
                pause = _pause_after(response, attempt, repeatable)
            if pause is None or time.monotonic() + pause > give_up:
                raise failure
            logger.info(RETRYING, operation.name, pause, failure)
            await async_sleep(pause)

    async def _once(
        self,
        operation: Operation[Any],
        path: Optional[Mapping[str, Any]],
        query: Optional[Query],
        body: Any,
        content: Optional[Content],
        headers: Mapping[str, str],
        timeout: Optional[float],
        stream: bool,
        is_bounded: bool = True,
    ) -> httpx.Response:
        filled = {name: _segment(operation, name, str(value)) for name, value in (path or {}).items()}
        request = self._http.build_request(
            operation.method,
            operation.path.format(**filled),
            params=_texts(query or {}),
            json=body,
            content=content() if content is not None else None,
            headers=headers,
            timeout=httpx.USE_CLIENT_DEFAULT if timeout is None else httpx.Timeout(timeout, connect=10.0),
        )
        response = await self._http.send(request, stream=True)
        logger.debug("%s %s: %d", operation.method, request.url.path, response.status_code)
        if stream and response.is_success:
            return response
        try:
            limit = self.answer_bytes if response.is_success else MAX_ERROR_BYTES
            return await self._whole(operation, response, limit if is_bounded else None, timeout)
        finally:
            await response.aclose()

    async def _whole(
        self, operation: Operation[Any], response: httpx.Response, limit: Optional[int], timeout: Optional[float]
    ) -> httpx.Response:
        """Reads the decompressed body within the limits of its size and time."""
        give_up = time.monotonic() + max(self.answer_seconds, timeout or 0.0)
        pieces: List[bytes] = []
        size = 0
        async for piece in unpacked(response):
            pieces.append(piece)
            size += len(piece)
            if limit is not None and size > limit:
                raise Unreachable(
                    f"The answer to {operation.name} is larger than {limit >> 20} MiB, the limit of the client."
                )
            if time.monotonic() > give_up:
                raise httpx.ReadTimeout("the body was not complete in time", request=response.request)
        headers = [(name, text) for name, text in response.headers.raw if name.lower() not in ENCODING_HEADERS]
        return httpx.Response(response.status_code, headers=headers, content=b"".join(pieces), request=response.request)

    async def token(self) -> str:
        """Returns a valid token; logs in with the password if needed."""
        if self._token is not None and (self._renew_at is None or time.monotonic() < self._renew_at):
            return self._token
        settings = self.settings
        if settings.username is None or settings.password is None:
            raise ConfigurationError(f"{settings.source} has no token.")
        given = {"username": settings.username, "password": settings.password}
        login = self._read(ops.login, await self._login_call(ops.login, None, given))
        if not isinstance(login, dict) or not login.get("token"):
            raise ConfigurationError(f"{settings.url} does not accept passwords. Use a personal token.")
        self._token = checked_token(str(login["token"]), settings.url)
        # `expires_at` is a time of the server's clock, which may differ from this one, so the default lifetime is used
        # instead.
        self._renew_at = time.monotonic() + 48 * 3600 - RENEWAL_MARGIN_SECONDS
        if settings.tenant is not None:
            await self._select_tenant(settings.tenant)
        return self._token

    async def _select_tenant(self, tenant: str) -> None:
        identity = tenant
        try:
            uuid.UUID(tenant)
        except ValueError:
            identity = await self._tenant_id(tenant)
        await self._login_call(ops.select_tenant, {"tenant_id": identity}, None)

    async def _tenant_id(self, name: str) -> str:
        number: Optional[int] = 1
        while number is not None:
            asked = {"limit": PAGE_SIZE, "pageNumber": number}
            answer = await self._login_call(ops.list_my_tenants, None, None, asked)
            tenants, number = self._page(ops.list_my_tenants, answer, number)
            for tenant in tenants:
                if tenant["name"] == name:
                    return tenant["tenant_id"]
        raise ConfigurationError(f"You do not belong to a tenant named {name}.")

    async def _login_call(
        self, operation: Operation[Any], path: Optional[Dict[str, str]], body: Any, query: Optional[Query] = None
    ) -> httpx.Response:
        """Sends a request of the login, which can be repeated without harm and must not start another login."""
        attempt = 0
        give_up = time.monotonic() + self.retry_seconds
        headers = {} if operation is ops.login else {"Authorization": f"Bearer {self._token}"}
        while True:
            attempt += 1
            failure: ManagedSparkError
            try:
                response = await self._once(operation, path, query, body, None, headers, None, False)
            except httpx.RequestError as error:
                failure = _unanswered(operation, self.settings.url, error)
                pause: Optional[float] = backoff(attempt)
            else:
                if response.is_success:
                    return response
                failure = error_of(response)
                pause = _pause_after(response, attempt, True)
            if pause is None or time.monotonic() + pause > give_up:
                raise failure
            logger.info(RETRYING, operation.name, pause, failure)
            await async_sleep(pause)


async def unpacked(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yields the decompressed body in pieces of limited size."""
    if response.is_stream_consumed:
        # A transport in memory has already read the body.
        yield response.content
        return
    unpacking = Unpacking(response)
    async for piece in response.aiter_raw():
        for part in unpacking.feed(piece):
            yield part
    yield unpacking.end()


def _pause_after(response: httpx.Response, attempt: int, repeatable: bool) -> Optional[float]:
    """Returns how long to wait before a retry; None if the request must not be retried."""
    status = response.status_code
    if status not in RETRIED_STATUSES or not (repeatable or status == 429):
        return None
    retry_after = response.headers.get("Retry-After", "")
    # A random part keeps clients with the same answer from retrying at the same time.
    is_number = retry_after.isascii() and retry_after.isdigit()
    return float(retry_after) + backoff(0) if is_number else backoff(attempt)


def _key(given: Optional[str]) -> str:
    if given and not IDEMPOTENCY_KEY.fullmatch(given):
        raise ConfigurationError("An Idempotency-Key can have only printable ASCII characters.")
    return given or str(uuid.uuid4())


def _segment(operation: Operation[Any], name: str, value: str) -> str:
    # These would change the path of the URL: an empty or a dot segment leads to another resource.
    if value in ("", ".", ".."):
        raise ConfigurationError(f'{operation.name} needs {name}, which cannot be "{value}".')
    return quote(value, safe="")


def _texts(query: Query) -> Dict[str, Union[str, List[str]]]:
    def text(value: Any) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    return {
        name: [text(one) for one in value] if isinstance(value, (list, tuple)) else text(value)
        for name, value in query.items()
        if value is not None
    }


def _unanswered(operation: Operation[Any], url: str, error: Exception) -> Unreachable:
    return Unreachable(
        f"No answer from {url} to {operation.name}: {str(error) or type(error).__name__}. "
        "Check that the platform is running and that the URL is right."
    )


def chosen(kind: str, ref: Ref) -> Dict[str, Ref]:
    """Selects a record by id or by name, in the parameters of the operations: a number is an id."""
    return {f"{kind}_id" if isinstance(ref, int) else f"{kind}_name": ref}


__all__ = ["NAME_TAKEN", "ApiError", "AsyncTransport", "Ref", "chosen"]
