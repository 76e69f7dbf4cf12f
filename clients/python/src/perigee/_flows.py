"""What both clients do, as generators: a flow yields the steps that need waiting, and a client
carries them out, with or without `await`."""

from __future__ import annotations

import random
import uuid
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any, TypeAlias, TypeVar

import httpx

from ._call import Call
from ._errors import PerigeeError, error_of
from ._reports import ReportQueue, is_settlement

T = TypeVar("T")

MAX_DELAY_SECONDS = 30.0
# A longer `Retry-After` is left to the caller.
MAX_RETRY_AFTER_SECONDS = 90.0
RENEW_BEFORE_SECONDS = 60.0
# After a failed renewal, while the old token is still valid.
RENEW_AGAIN_SECONDS = 10.0


@dataclass(frozen=True)
class Send:
    method: str
    target: str
    headers: dict[str, str]
    content: bytes | None
    # Whether the body is read by the caller, piece by piece.
    is_streamed: bool


@dataclass(frozen=True)
class Wait:
    seconds: float


@dataclass(frozen=True)
class GetToken:
    # A token that the service has refused, and which must not be used again.
    refused: str | None


Step: TypeAlias = Send | Wait | GetToken
Flow: TypeAlias = Generator[Step, Any, T]


class Reply(dict[str, Any]):
    """The body of a reply, which remembers the `ETag`."""

    etag: str | None = None


def etag_of(reply: Mapping[str, Any]) -> str | None:
    """The `ETag` of a reply, for `if_match`."""
    return reply.etag if isinstance(reply, Reply) else None


def backoff_seconds(attempt: int) -> float:
    """Half a second, one, two, …, with jitter, so that clients do not come back all at once."""
    return float(min(MAX_DELAY_SECONDS, 0.5 * 2 ** min(attempt, 10)) * random.uniform(0.5, 1.0))


class Token:
    """The token in use and when to renew it. Only the lifetime counts, not the local clock."""

    def __init__(self) -> None:
        self.value: str | None = None
        self._renew_at = 0.0
        self._ends_at = 0.0

    def store(self, value: str, lifetime_seconds: float) -> None:
        self.value = value
        margin = min(RENEW_BEFORE_SECONDS, lifetime_seconds / 4)
        self._ends_at = monotonic() + lifetime_seconds
        self._renew_at = self._ends_at - margin

    def postpone_renewal(self) -> None:
        self._renew_at = min(self._ends_at, monotonic() + RENEW_AGAIN_SECONDS)

    def seconds_left(self) -> float:
        return self._renew_at - monotonic()

    def is_usable(self, refused: str | None) -> bool:
        """Whether a call can take the token as it is."""
        return self.is_valid(refused) and self.seconds_left() > 0

    def is_valid(self, refused: str | None) -> bool:
        return self.value is not None and self.value != refused and monotonic() < self._ends_at


@dataclass
class Flows:
    user_name: str | None
    api_key: str | None
    # Whether another token can be had after a 401.
    can_renew: bool
    retries: int
    version: str | None

    def exchange(
        self, call: Call[Any], *, is_streamed: bool = False, retries: int | None = None
    ) -> Flow[httpx.Response]:
        """Sends a call until it succeeds or fails for good."""
        headers = self._headers(call)
        content = call.content()
        most = self.retries if retries is None else retries
        attempt = 0
        refused: str | None = None
        has_renewed = False
        may_be_done = False
        while True:
            if not call.is_open:
                token = yield GetToken(refused)
                headers["Authorization"] = f"Bearer {token}"
            delay = backoff_seconds(attempt)
            try:
                response: httpx.Response = yield Send(
                    call.method, call.target, headers, content, is_streamed
                )
            except httpx.TransportError as error:
                if attempt >= most or not _may_repeat(call, error):
                    raise
                may_be_done = may_be_done or not _was_not_sent(error)
            else:
                if response.status_code < 400:
                    return response
                problem = error_of(response)
                if may_be_done and _was_deleted(call, problem):
                    return httpx.Response(200, json={"success": True}, request=response.request)
                if problem.status == 401 and self.can_renew and not (call.is_open or has_renewed):
                    refused, has_renewed = token, True
                    continue
                if attempt >= most or not _is_temporary(call, problem):
                    raise problem
                may_be_done = may_be_done or (problem.status >= 500 and problem.status != 503)
                delay = max(delay, problem.retry_after or 0)
            attempt += 1
            yield Wait(delay)

    def call(self, call: Call[Any]) -> Flow[Any]:
        response = yield from self.exchange(call)
        if response.status_code == 304 or not response.content:
            return None
        body = _body_of(response)
        if not isinstance(body, dict):
            return body
        reply = Reply(body)
        reply.etag = response.headers.get("ETag")
        return reply

    def renew(self, token: Token, refused: str | None) -> Flow[None]:
        """Fetches a token. While the old one is valid, a failure changes nothing."""
        if self.user_name is None or self.api_key is None:
            raise ValueError("user_name and api_key, or token, must be given")
        body = {"userName": self.user_name, "apiKey": self.api_key}
        call: Call[Any] = Call(
            "POST", "/api/Auth/Token", body=body, is_open=True, is_repeatable=True
        )
        retries = 0 if token.is_valid(refused) else None
        try:
            response = yield from self.exchange(call, retries=retries)
            reply = _body_of(response)
        except (httpx.TransportError, PerigeeError):
            if not token.is_valid(refused):
                raise
            token.postpone_renewal()
            return
        token.store(reply["token"], _lifetime_seconds(reply["expires"], response))

    def send_reports(self, queue: ReportQueue, *, retries: int | None = None) -> Flow[None]:
        """Sends the oldest batch. What is not valid is taken out, and the rest stays."""
        batch = queue.next_batch()
        if not batch:
            return
        body = b'{"locations":[' + b",".join(batch) + b"]}"
        call: Call[Any] = Call("POST", "/api/locations", body=body, takes_key=True)
        try:
            response = yield from self.exchange(call, retries=retries)
        except PerigeeError as problem:
            if not queue.refuse(problem, batch):
                raise
        except httpx.TransportError as error:
            if not _was_not_sent(error):
                queue.shrink(batch)
            raise
        else:
            reply = _body_of(response)
            # What another than the service has answered stays in the queue.
            if not is_settlement(reply):
                raise error_of(response)
            queue.settle(reply, batch)

    def _headers(self, call: Call[Any]) -> dict[str, str]:
        headers = {"Accept": call.accept, **call.headers}
        if call.body is not None:
            headers.setdefault("Content-Type", call.content_type)
        if call.if_match is not None:
            headers["If-Match"] = call.if_match
        if call.takes_key:
            headers["Idempotency-Key"] = call.key or uuid.uuid4().hex
        if self.version is not None:
            headers.setdefault("Perigee-Version", self.version)
        return headers


def next_page(call: Call[Any], page: Mapping[str, Any]) -> Call[Any] | None:
    cursor = page.get("nextCursor")
    return None if cursor is None else replace(call, query={**call.query, "cursor": cursor})


def _body_of(response: httpx.Response) -> Any:
    """A proxy or a captive portal may answer 200 with a page."""
    try:
        return response.json()
    except ValueError:
        raise error_of(response) from None


def _is_idempotent(call: Call[Any]) -> bool:
    is_safe = call.method in ("GET", "HEAD", "PUT", "DELETE")
    return is_safe or call.takes_key or call.is_repeatable


def _was_not_sent(error: httpx.TransportError) -> bool:
    return isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))


def _may_repeat(call: Call[Any], error: httpx.TransportError) -> bool:
    """Whether a request can be sent again that may have arrived, or has certainly not."""
    is_wrong = isinstance(error, (httpx.UnsupportedProtocol, httpx.LocalProtocolError))
    return not is_wrong and (_was_not_sent(error) or _is_idempotent(call))


def _was_deleted(call: Call[Any], problem: PerigeeError) -> bool:
    """Whether what an earlier attempt was to delete is gone. A move is ended, not deleted."""
    is_resource = problem.code.endswith("-not-found")
    is_other = problem.code in ("route-not-found", "move-not-found")
    return call.method == "DELETE" and problem.status == 404 and is_resource and not is_other


def _is_temporary(call: Call[Any], problem: PerigeeError) -> bool:
    if (problem.retry_after or 0) > MAX_RETRY_AFTER_SECONDS:
        return False
    if problem.status in (429, 503) or problem.code == "request-in-progress":
        return True
    return problem.status >= 500 and _is_idempotent(call)


def _lifetime_seconds(expires: str, response: httpx.Response) -> float:
    """How long a token lasts by the clock of the service."""
    end = datetime.fromisoformat(expires.replace("Z", "+00:00"))
    try:
        now = parsedate_to_datetime(response.headers["Date"])
    except (KeyError, TypeError, ValueError):
        now = datetime.now(end.tzinfo)
    return max(0.0, (end - now).total_seconds())
