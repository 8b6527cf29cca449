"""The errors of the client. Handle them by class or by `code`, which is stable; messages may change."""

from __future__ import annotations

import json
import re
from typing import Any, Dict, List, Mapping, Optional

import httpx

from ._generated.remedies import REMEDIES
from ._text import printable


#: Start of the stack traces that an SQL server appends to the message of a failed statement.
STACK_FRAME = re.compile(r"\n\s*(?:at [\w.$]+[./]|Driver stacktrace:|Caused by: )")
#: Its own class and words before the message of Spark.
SERVER_PREFIX = re.compile(r"^org\.apache\.hive\.service\.cli\.HiveSQLException: (?:Error running query: )?")


class ManagedSparkError(Exception):
    """Base class of all errors of this package."""

    def __str__(self) -> str:
        # Messages and reasons can come from other users, and Python prints those of an uncaught error to the terminal unchanged.
        return printable(super().__str__())


class ConfigurationError(ManagedSparkError):
    """The settings for the connection are missing or not valid."""


class UsageError(ConfigurationError):
    """An argument is invalid, such as a file that is not a script, or a package that a method needs is not installed."""


class Unreachable(ManagedSparkError):
    """The platform did not answer, or the connection broke, until the retries were exhausted."""


class DeadlineExceeded(ManagedSparkError, TimeoutError):
    """A wait exceeded its timeout. What it waited for continues."""


class ApiError(ManagedSparkError):
    """The platform refused a request."""

    def __init__(self, status: int, code: str, message: str, details: Mapping[str, Any], correlation_id: str) -> None:
        super().__init__(f"{code}: {message}" if code else message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details
        #: Identifies the request in the logs of the platform.
        self.correlation_id = correlation_id


class Invalid(ApiError):
    """400, 413, 415 or 422: the request itself is not valid."""


class Unauthenticated(ApiError):
    """401: there is no valid token."""


class Forbidden(ApiError):
    """403: the user lacks a permission, which the message names."""


class NotFound(ApiError):
    """404: the tenant has no such record."""


class Conflict(ApiError):
    """409: the state of a record does not allow it, or a name is taken."""


class Overloaded(ApiError):
    """429 or 503, after the retries: there are too many requests, or a system that the platform needs does not respond."""


class FunctionFailed(Invalid):
    """The code of a function raised an exception."""

    @property
    def type(self) -> str:
        return str(self.details.get("type", ""))

    @property
    def lines(self) -> List[str]:
        """Lines of the function's own code that led to the exception."""
        return [str(line) for line in self.details.get("lines", ())]


class RunFailed(ManagedSparkError):
    """A run of a job did not end as DONE, or an instance of a notebook ended before its kernel ran."""

    def __init__(
        self, job_id: int, status: str, code: Optional[str], reason: Optional[str], log_url: str, kind: str = "Job"
    ) -> None:
        #: Id of the job, or of the notebook's instance.
        self.job_id = job_id
        self.status = status
        self.code = code
        self.reason = reason or f"The run ended as {status}."
        self.remedy = REMEDIES.get(code or "")
        self.log_url = log_url
        super().__init__(" ".join([f"{kind} {job_id} is {status}: {_sentence(self.reason)}", *filter(None, [self.remedy])]))


class ClusterFailed(ManagedSparkError):
    """A cluster did not reach the status that was waited for."""

    def __init__(self, cluster_id: int, status: str, reason: Optional[str]) -> None:
        self.cluster_id = cluster_id
        self.status = status
        self.reason = reason
        super().__init__(f"Cluster {cluster_id} is {status}: {reason or 'it gave no reason'}")


class SqlFailed(ManagedSparkError):
    """A statement is not valid or failed, or the SQL server ended meanwhile.

    :ivar details: the whole message of the server, which may have stack traces
    """

    def __init__(self, details: str) -> None:
        self.details = details
        reason = STACK_FRAME.split(details, maxsplit=1)[0]
        super().__init__(SERVER_PREFIX.sub("", reason).strip() or details)


class CellFailed(ManagedSparkError):
    """The code of a cell raised an exception."""

    def __init__(self, name: str, value: str, traceback: List[str]) -> None:
        super().__init__(f"{name}: {value}")
        self.name = name
        self.value = value
        self.traceback = traceback


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


CLASSES: Dict[int, "type[ApiError]"] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    415: Invalid,
    422: Invalid,
    429: Overloaded,
    503: Overloaded,
}


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error of a response that was read. A proxy may have answered, so the body need not be the platform's."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        body = None
    body = body if isinstance(body, dict) else {}
    code = str(body.get("error_code", ""))
    message = str(body.get("error_message") or f"The platform answered {response.status_code} {response.reason_phrase}")
    details = body.get("details")
    kind = FunctionFailed if code == "FUNCTION.FAILED" else CLASSES.get(response.status_code, ApiError)
    known = details if isinstance(details, dict) else {}
    return kind(response.status_code, code, message, known, str(body.get("correlation_id", "")))
