from __future__ import annotations

from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, cast

import httpx

from .generated.types import Problem, ProblemCode, ProblemError


class PerigeeError(Exception):
    """The service refused a request. `code` is for programs, `detail` for people."""

    def __init__(self, status: int, problem: Problem, retry_after: float | None = None) -> None:
        super().__init__(status, problem, retry_after)
        self.status = status
        self.problem = problem
        # In seconds.
        self.retry_after = retry_after

    @property
    def code(self) -> ProblemCode:
        return self.problem["code"]

    @property
    def detail(self) -> str:
        return self.problem["detail"]

    @property
    def errors(self) -> list[ProblemError]:
        """The values that are not valid, each with its pointer."""
        return self.problem.get("errors", [])

    @property
    def request_id(self) -> str:
        return self.problem["requestId"]

    @property
    def is_temporary(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status == 429 or self.status >= 500

    def __str__(self) -> str:
        values = "".join(f"; {error['pointer']} {error['detail']}" for error in self.errors)
        return f"{self.status} {self.code}: {self.detail}{values}"


class EventsMissed(Exception):
    """The stream cannot resume: the events from `first` to `last` are no longer stored."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__(first, last)
        self.first = first
        self.last = last

    def __str__(self) -> str:
        return f"the events {self.first} to {self.last} are no longer stored"


class ReportQueueFull(Exception):
    """Too many locations wait to be sent: call `flush`, or store `pending` yourself."""


def error_of(response: httpx.Response) -> PerigeeError:
    """The error that a reply stands for. What no Perigee has written gets the code `internal`."""
    try:
        body: Any = response.json()
    except ValueError:
        body = None
    if not (isinstance(body, dict) and isinstance(body.get("code"), str)):
        detail = f"The reply with the status {response.status_code} is not one of this API."
        body = {"code": "internal", "detail": detail}
    problem = {
        "success": False,
        "error": body.get("detail", ""),
        "type": "about:blank",
        "title": response.reason_phrase,
        "status": response.status_code,
        "detail": "",
        "instance": response.request.url.path,
        "requestId": response.headers.get("X-Request-Id", ""),
        **body,
    }
    return PerigeeError(response.status_code, cast(Problem, problem), retry_after_of(response))


def retry_after_of(response: httpx.Response) -> float | None:
    value = response.headers.get("Retry-After")
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return None
