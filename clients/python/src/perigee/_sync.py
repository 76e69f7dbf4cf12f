from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import sleep
from types import TracebackType
from typing import Any, TypeVar, cast

import httpx
from typing_extensions import Self
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from ._call import Call
from ._errors import PerigeeError
from ._flows import Flow, Flows, GetToken, Send, Step, Token, Wait, next_page
from ._options import TIMEOUT_SECONDS, USER_AGENT, address_of, credentials_of
from ._reports import ReportQueue, ReportSummary
from ._stream import FAILURES, MAX_MESSAGE_BYTES, RENEW_SECONDS, StreamState
from .generated.operations import Operations
from .generated.types import AddressedLocation, Event, EventType

T = TypeVar("T")


class Perigee(Operations):
    """The client. `AsyncPerigee` is the same with `await`. Threads may share one.

    What is not given comes from `PERIGEE_URL`, `PERIGEE_USER_NAME` and `PERIGEE_API_KEY`.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        user_name: str | None = None,
        api_key: str | None = None,
        token: str | Callable[[], str] | None = None,
        retries: int = 4,
        timeout: float = TIMEOUT_SECONDS,
        version: str | None = None,
        max_pending: int = 100_000,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.url = address_of(url)
        self._given_token = token
        name, key = credentials_of(user_name, api_key, token is not None)
        can_renew = not isinstance(token, str)
        self._flows = Flows(name, key, can_renew, retries, version)
        self._token = Token()
        # A signal handler may call `flush` while its own thread holds a lock.
        self._token_lock = threading.RLock()
        self._reports = ReportQueue(max_pending)
        self._reports_lock = threading.RLock()
        self._http = httpx.Client(
            headers={"User-Agent": USER_AGENT}, timeout=timeout, transport=transport
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.flush()
        finally:
            self.close()

    def close(self) -> None:
        """Closes the connections. Does not send what is pending: `flush` does."""
        self._http.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """Any call, for what has no method of its own. A 304 returns None."""
        return self._call(Call(method, path, query=query or {}, body=body, headers=headers or {}))

    def report(self, *locations: AddressedLocation | Mapping[str, Any]) -> None:
        """Adds locations to the next batch, and sends it when it is full or 5 seconds old.

        What cannot be sent stays in `pending` and is tried again by later calls.
        """
        with self._reports_lock:
            self._reports.add(locations)
            while self._reports.is_due():
                try:
                    self._run(self._flows.send_reports(self._reports, retries=0))
                except (httpx.TransportError, PerigeeError) as error:
                    self._reports.postpone()
                    if isinstance(error, PerigeeError) and not error.is_temporary:
                        raise

    def flush(self) -> ReportSummary:
        """Sends every location that `report` was given. Raises if that fails; they stay pending."""
        with self._reports_lock:
            while len(self._reports) > 0:
                self._run(self._flows.send_reports(self._reports))
            return self._reports.take_summary()

    @property
    def pending(self) -> list[dict[str, Any]]:
        """The locations that are not sent yet."""
        with self._reports_lock:
            return self._reports.pending

    def stream(
        self,
        *,
        after: int | None = None,
        types: EventType | str | Sequence[EventType | str] | None = None,
        devices: str | Sequence[str] | None = None,
        groups: str | Sequence[str] | None = None,
        skip_missed: bool = False,
    ) -> Iterator[Event]:
        """Events as they happen. Reconnects and resumes by itself.

        An event is acknowledged when the next one is asked for. To resume later, give `after` the
        `sequence` of the last event that was processed. `EventsMissed` is raised if the service
        no longer stores the events that follow it, unless `skip_missed`.
        """
        state = StreamState(
            base=self.url,
            after=after,
            types=types,
            devices=devices,
            groups=groups,
            skips_missed=skip_missed,
            retries=self._flows.retries,
            can_renew=self._flows.can_renew,
        )
        while True:
            try:
                token = self._get_token(state.refused)
                with connect(
                    state.url(),
                    additional_headers=state.headers(token, self._token_lasts_seconds()),
                    user_agent_header=USER_AGENT,
                    max_size=MAX_MESSAGE_BYTES,
                ) as socket:
                    yield from self._events(socket, state)
            except FAILURES as error:
                sleep(state.fail(error))

    def _events(self, socket: Connection, state: StreamState) -> Iterator[Event]:
        while True:
            left = state.seconds_to_renewal()
            if left == 0:
                token = self._get_token(None)
                socket.send(state.renewal(token, self._token_lasts_seconds()))
                continue
            try:
                text = socket.recv(timeout=left)
            except TimeoutError:
                continue
            events, ack = state.receive(text)
            for event in events:
                yield event
                state.after = event["sequence"]
            if ack is not None:
                socket.send(ack)

    def _token_lasts_seconds(self) -> float | None:
        if isinstance(self._given_token, str):
            return None
        return RENEW_SECONDS if self._given_token else max(1.0, self._token.seconds_left())

    def _call(self, call: Call[T]) -> T:
        return cast(T, self._run(self._flows.call(call)))

    def _rows(self, call: Call[Any], member: str) -> Iterator[Any]:
        following: Call[Any] | None = call
        while following is not None:
            page = self._call(following)
            yield from page[member]
            following = next_page(following, page)

    def _bytes(self, call: Call[Any]) -> Iterator[bytes]:
        response = self._run(self._flows.exchange(call, is_streamed=True))
        try:
            yield from response.iter_bytes()
        finally:
            response.close()

    def _run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    result = self._perform(step)
                except Exception as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as end:
            return cast(T, end.value)

    def _perform(self, step: Step) -> Any:
        if isinstance(step, Send):
            return self._send(step)
        if isinstance(step, GetToken):
            return self._get_token(step.refused)
        assert isinstance(step, Wait)
        return sleep(step.seconds)

    def _send(self, step: Send) -> httpx.Response:
        request = self._http.build_request(
            step.method, self.url + step.target, headers=step.headers, content=step.content
        )
        response = self._http.send(request, stream=True)
        if not step.is_streamed or response.status_code >= 400:
            response.read()
        return response

    def _get_token(self, refused: str | None) -> str:
        if isinstance(self._given_token, str):
            return self._given_token
        if self._given_token is not None:
            return self._given_token()
        # The lock lets one caller fetch, and the others take what it got.
        with self._token_lock:
            if not self._token.is_usable(refused):
                self._run(self._flows.renew(self._token, refused))
            assert self._token.value is not None
            return self._token.value
