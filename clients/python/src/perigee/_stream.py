"""What both streams do with a connection, without any input or output."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

import httpx
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

from ._call import text_of
from ._errors import EventsMissed, PerigeeError, error_of
from ._flows import backoff_seconds
from .generated.types import Event

# The service sends about 2 MB beyond what is acknowledged.
MAX_MESSAGE_BYTES = 16 * 1024 * 1024
# A token whose end is not known is renewed this often.
RENEW_SECONDS = 300.0
REFUSAL_CODES = {4400: "invalid-request", 4403: "forbidden"}
# Errors of a connection that another may not have.
FAILURES = (
    OSError,
    TimeoutError,
    EOFError,
    ConnectionClosed,
    InvalidHandshake,
    httpx.TransportError,
    PerigeeError,
)


@dataclass
class StreamState:
    base: str
    after: int | None
    types: str | Sequence[str] | None
    devices: str | Sequence[str] | None
    groups: str | Sequence[str] | None
    skips_missed: bool
    retries: int
    can_renew: bool
    # A token that the service has refused.
    refused: str | None = None
    token: str = ""
    # None if the token cannot be renewed.
    _renew_at: float | None = None
    _attempt: int = 0
    _was_ready: bool = False
    _is_first: bool = True
    _has_renewed: bool = False

    def url(self) -> str:
        query = {
            "after": self.after,
            "types": self.types,
            "devices": self.devices,
            "groups": self.groups,
        }
        given = [(name, text_of(value)) for name, value in query.items() if value is not None]
        parts = urlsplit(self.base)
        scheme = "wss" if parts.scheme == "https" else "ws"
        path = f"{parts.path.rstrip('/')}/api/stream"
        return urlunsplit((scheme, parts.netloc, path, urlencode(given), ""))

    def headers(self, token: str, lasts_seconds: float | None) -> dict[str, str]:
        self._use_token(token, lasts_seconds)
        return {"Authorization": f"Bearer {token}"}

    def receive(self, text: str | bytes) -> tuple[list[Event], str | None]:
        """The events of a message, and the message that acknowledges them."""
        message: dict[str, Any] = json.loads(text)
        if message.get("type") == "ready":
            self._start(message)
        if message.get("type") != "events":
            return [], None
        ack = json.dumps({"type": "ack", "ack": message["ack"]})
        return cast("list[Event]", message["events"]), ack

    def _start(self, ready: dict[str, Any]) -> None:
        sequence, oldest = int(ready["sequence"]), ready["oldestSequence"]
        if oldest is None:
            # An older service says null if it stores no event: all up to the last one are gone.
            oldest = int(ready["lastSequence"]) + 1
        # A filtered stream that resumes does not know how far it has read: only its own events
        # move `after`. Its first connection does.
        is_filtered = any((self.types, self.devices, self.groups))
        is_exact = self._is_first or not is_filtered
        if oldest > sequence + 1 and is_exact and not self.skips_missed:
            raise EventsMissed(sequence + 1, oldest - 1)
        self.after = sequence
        self._is_first, self._was_ready, self._has_renewed = False, True, False
        self._attempt, self.refused = 0, None

    def renewal(self, token: str, lasts_seconds: float | None) -> str:
        self._use_token(token, lasts_seconds)
        return json.dumps({"type": "token", "token": token})

    def seconds_to_renewal(self) -> float | None:
        """How long the token of this connection is good for, whatever arrives meanwhile."""
        return None if self._renew_at is None else max(0.0, self._renew_at - monotonic())

    def _use_token(self, token: str, lasts_seconds: float | None) -> None:
        self.token = token
        self._renew_at = None if lasts_seconds is None else monotonic() + lasts_seconds

    def fail(self, error: Exception) -> float:
        """How many seconds to wait before the next connection. Raises what is final."""
        if isinstance(error, PerigeeError):
            return self._delay_of(error)
        if isinstance(error, InvalidStatus):
            problem = _problem_of(error)
            return self._renew(problem) if problem.status == 401 else self._delay_of(problem)
        code = error.rcvd.code if isinstance(error, ConnectionClosed) and error.rcvd else None
        if code in REFUSAL_CODES:
            raise _refusal(code) from error
        if code == 4401:
            return self._renew(_refusal(code))
        return self._next_delay(error)

    def _delay_of(self, problem: PerigeeError) -> float:
        if not problem.is_temporary:
            raise problem
        return max(self._next_delay(problem), problem.retry_after or 0)

    def _renew(self, problem: PerigeeError) -> float:
        if not self.can_renew or self._has_renewed:
            raise problem
        self._has_renewed, self.refused = True, self.token
        return 0

    def _next_delay(self, error: Exception) -> float:
        """A stream that has worked comes back forever; one that never has gives up."""
        if not self._was_ready and self._attempt >= self.retries:
            raise error
        self._attempt += 1
        return backoff_seconds(self._attempt - 1)


def _problem_of(error: InvalidStatus) -> PerigeeError:
    given = error.response
    return error_of(
        httpx.Response(
            given.status_code,
            headers=list(given.headers.raw_items()),
            content=bytes(given.body or b""),
            request=httpx.Request("GET", "http://localhost/api/stream"),
        )
    )


def _refusal(code: int) -> PerigeeError:
    status = code - 4000
    return PerigeeError(
        status,
        {
            "success": False,
            "error": f"The stream was closed with {code}.",
            "type": "about:blank",
            "title": "Stream closed",
            "status": status,
            "detail": f"The stream was closed with {code}.",
            "code": cast(Any, REFUSAL_CODES.get(code, "token-invalid")),
            "instance": "/api/stream",
            "requestId": "",
        },
    )
