"""The stream, with a service that the test plays."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http import HTTPStatus
from itertools import islice
from time import sleep
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import open_client
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from perigee import EventsMissed, PerigeeError


class Connection:
    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        assert socket.request is not None
        self.token = socket.request.headers["Authorization"]
        self.query = parse_qs(urlsplit(socket.request.path).query)

    def ready(self, sequence: int, oldest: int | None = 1) -> None:
        self.send(type="ready", sequence=sequence, lastSequence=99, oldestSequence=oldest)

    def events(self, *sequences: int) -> None:
        events = [{"type": "device.created", "sequence": one, "data": {}} for one in sequences]
        self.send(type="events", ack=f"ack-{sequences[-1]}", events=events)

    def send(self, **message: Any) -> None:
        self._socket.send(json.dumps(message))

    def receive(self) -> Any:
        return json.loads(self._socket.recv(timeout=20))

    def close(self, code: int) -> None:
        self._socket.close(code)

    def wait(self) -> None:
        with suppress(ConnectionClosed):
            for _ in self._socket:
                pass


@contextmanager
def service(
    *scripts: Callable[[Connection], None], **options: Any
) -> Iterator[tuple[str, list[Connection]]]:
    """Plays the scripts, one for each connection, and then waits for the client to leave."""
    connections: list[Connection] = []
    left = list(scripts)

    def handle(socket: ServerConnection) -> None:
        connection = Connection(socket)
        connections.append(connection)
        left.pop(0)(connection)
        connection.wait()

    with serve(handle, "127.0.0.1", 0, **options) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.socket.getsockname()[1]}", connections
        finally:
            server.shutdown()
            thread.join()


def take(client: Any, count: int, **options: Any) -> list[int]:
    events = client.stream(**options)
    try:
        return [event["sequence"] for event in islice(events, count)]
    finally:
        events.close()


def test_resumes_after_a_disconnect(flavour: str, no_waiting: list[float]) -> None:
    acks = []

    def first(connection: Connection) -> None:
        connection.ready(4)
        connection.events(5, 6)
        acks.append(connection.receive())
        connection.events(7)
        connection.close(1013)

    def second(connection: Connection) -> None:
        after = int(connection.query["after"][0])
        connection.ready(after)
        connection.events(*range(after + 1, 10))

    with service(first, second) as (url, connections):
        client = open_client(flavour, url, token="t1")
        assert take(client, 5, types=["device.*", "alert.raised"]) == [5, 6, 7, 8, 9]
        client.close()
    assert acks == [{"type": "ack", "ack": "ack-6"}]
    assert [one.query.get("types") for one in connections] == [["device.*,alert.raised"]] * 2
    assert "after" not in connections[0].query


def test_acknowledges_what_has_been_processed(flavour: str) -> None:
    acks: list[Any] = []
    is_acknowledged = threading.Event()

    def script(connection: Connection) -> None:
        connection.ready(0)
        connection.events(1)
        connection.events(2)
        acks.append(connection.receive())
        is_acknowledged.set()

    with service(script) as (url, _):
        client = open_client(flavour, url, token="t1")
        events = client.stream(after=0)
        next(events)
        assert acks == []
        next(events)
        assert is_acknowledged.wait(20)
        events.close()
        client.close()
    assert acks == [{"type": "ack", "ack": "ack-1"}]


def test_resumes_where_it_began_when_nothing_has_happened(
    flavour: str, no_waiting: list[float]
) -> None:
    def first(connection: Connection) -> None:
        connection.ready(41)
        connection.close(1013)

    def second(connection: Connection) -> None:
        connection.ready(41)
        connection.events(42)

    with service(first, second) as (url, connections):
        client = open_client(flavour, url, token="t1")
        assert take(client, 1) == [42]
        client.close()
    assert connections[1].query["after"] == ["41"]


def test_says_which_events_are_gone(flavour: str) -> None:
    with service(lambda connection: connection.ready(3, oldest=10)) as (url, _):
        client = open_client(flavour, url, token="t1")
        with pytest.raises(EventsMissed) as missed:
            take(client, 1, after=3)
        client.close()
    assert (missed.value.first, missed.value.last) == (4, 9)


def test_says_that_all_events_are_gone(flavour: str) -> None:
    with service(lambda connection: connection.ready(3, oldest=None)) as (url, _):
        client = open_client(flavour, url, token="t1")
        with pytest.raises(EventsMissed) as missed:
            take(client, 1, after=3)
        client.close()
    assert (missed.value.first, missed.value.last) == (4, 99)


def test_starts_where_no_event_is_stored(flavour: str) -> None:
    def script(connection: Connection) -> None:
        connection.ready(99, oldest=None)
        connection.events(100)

    with service(script) as (url, _):
        client = open_client(flavour, url, token="t1")
        assert take(client, 1) == [100]
        client.close()


def test_goes_on_without_the_events_that_are_gone(flavour: str) -> None:
    def script(connection: Connection) -> None:
        connection.ready(3, oldest=10)
        connection.events(10)

    with service(script) as (url, _):
        client = open_client(flavour, url, token="t1")
        assert take(client, 1, after=3, skip_missed=True) == [10]
        client.close()


def tokens(flavour: str) -> Any:
    given = iter(f"t{n}" for n in range(1, 9))

    async def later() -> str:
        return next(given)

    return (lambda: next(given)) if flavour == "sync" else later


def test_comes_back_with_another_token(flavour: str, no_waiting: list[float]) -> None:
    def first(connection: Connection) -> None:
        connection.ready(0)
        connection.close(4401)

    def second(connection: Connection) -> None:
        connection.ready(0)
        connection.events(1)

    with service(first, second) as (url, connections):
        client = open_client(flavour, url, token=tokens(flavour))
        assert take(client, 1) == [1]
        client.close()
    assert [one.token for one in connections] == ["Bearer t1", "Bearer t2"]
    assert no_waiting == [0]


def test_renews_the_token_of_an_open_stream(flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"perigee._{flavour}.RENEW_SECONDS", 0.5)
    sent = []

    def script(connection: Connection) -> None:
        connection.ready(0)
        sent.append(connection.receive())
        connection.send(type="token", expires="2099-01-01T00:00:00.000Z")
        connection.events(1)

    with service(script) as (url, _):
        client = open_client(flavour, url, token=tokens(flavour))
        assert take(client, 1) == [1]
        client.close()
    assert sent == [{"type": "token", "token": "t2"}]


def test_renews_the_token_of_a_busy_stream(flavour: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"perigee._{flavour}.RENEW_SECONDS", 0.3)
    renewals: list[str] = []

    def script(connection: Connection) -> None:
        connection.ready(0)
        sequence = 0
        # Something arrives every 10 ms.
        while not renewals and sequence < 1000:
            sequence += 1
            connection.events(sequence)
            sleep(0.01)
            message = connection.receive()
            if message["type"] == "token":
                renewals.append(message["token"])
        connection.close(4400)

    with service(script) as (url, _):
        client = open_client(flavour, url, token=tokens(flavour))
        with pytest.raises(PerigeeError):
            take(client, 2000)
        client.close()
    assert renewals == ["t2"]


@pytest.mark.parametrize(("code", "status"), [(4403, 403), (4400, 400), (4401, 401)])
def test_raises_what_is_final(flavour: str, code: int, status: int) -> None:
    with service(lambda connection: connection.close(code)) as (url, _):
        client = open_client(flavour, url, token="t1")
        with pytest.raises(PerigeeError) as refused:
            take(client, 1)
        client.close()
    assert refused.value.status == status


def test_raises_a_refused_handshake(flavour: str) -> None:
    def refuse(socket: ServerConnection, _: Any) -> Any:
        return socket.respond(HTTPStatus.FORBIDDEN, json.dumps({"code": "forbidden"}))

    with service(process_request=refuse) as (url, _):
        client = open_client(flavour, url, token="t1")
        with pytest.raises(PerigeeError) as refused:
            take(client, 1)
        client.close()
    assert (refused.value.status, refused.value.code) == (403, "forbidden")


def test_gives_up_where_nobody_has_ever_answered(flavour: str, no_waiting: list[float]) -> None:
    with service() as (url, _):
        pass
    client = open_client(flavour, url, token="t1", retries=2)
    with pytest.raises(OSError, match=r"."):
        take(client, 1)
    client.close()
    assert len(no_waiting) == 2
