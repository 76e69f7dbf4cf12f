"""Tokens, retries and reports, with a service that the test plays."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import anyio
import httpx
import pytest
from conftest import open_client

from perigee import AsyncPerigee, Perigee, PerigeeError, ReportQueueFull


class Service:
    """Hands out tokens `t1`, `t2`, … and answers the rest in turn; the last answer stays.

    Each of `token_failures` is the answer to one request for a token.
    """

    def __init__(self, *answers: Any, clock: float = 0) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []
        self.tokens = 0
        self.token_failures: list[Any] = []
        self.clock = clock

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/Auth/Token":
            if self.token_failures:
                return self._answer(self.token_failures.pop(0), request)
            return self._hand_out_token()
        self.requests.append(request)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return self._answer(answer, request)

    def _answer(self, answer: Any, request: httpx.Request) -> httpx.Response:
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, httpx.Response):
            return httpx.Response(
                answer.status_code, headers=answer.headers, content=answer.content
            )
        result: httpx.Response = answer(request)
        return result

    def _hand_out_token(self) -> httpx.Response:
        self.tokens += 1
        now = datetime.now(timezone.utc) + timedelta(seconds=self.clock)
        expires = (now + timedelta(hours=1)).isoformat().replace("+00:00", "Z")
        body = {"success": True, "token": f"t{self.tokens}", "expires": expires}
        return httpx.Response(200, json=body, headers={"Date": format_datetime(now, usegmt=True)})

    def client(self, flavour: str, **options: Any) -> Any:
        given = {"user_name": "demo", "api_key": "pgk", **options}
        return open_client(flavour, "http://service", transport=httpx.MockTransport(self), **given)


def problem(status: int, code: str, **members: Any) -> httpx.Response:
    headers = members.pop("headers", {})
    body = {"code": code, "detail": "Something is wrong.", "requestId": "r1", **members}
    return httpx.Response(status, json=body, headers=headers)


OK = httpx.Response(200, json={"success": True, "device": {"id": "dev_1"}})


def test_fetches_one_token_for_many_calls(flavour: str) -> None:
    service = Service(OK)
    client = service.client(flavour)
    client.read_device("dev_1")
    client.read_device("dev_1")
    client.close()
    assert service.tokens == 1
    assert {one.headers["Authorization"] for one in service.requests} == {"Bearer t1"}


def test_fetches_one_token_for_threads() -> None:
    service = Service(OK)
    with service.client("sync") as client, ThreadPoolExecutor(8) as pool:
        list(pool.map(client.read_device, ["dev_1"] * 16))
    assert (service.tokens, len(service.requests)) == (1, 16)


def test_fetches_one_token_for_tasks() -> None:
    service = Service(OK)

    async def run() -> None:
        transport = httpx.MockTransport(service)
        options: Any = {"user_name": "demo", "api_key": "pgk", "transport": transport}
        async with (
            AsyncPerigee("http://service", **options) as client,
            anyio.create_task_group() as group,
        ):
            for _ in range(16):
                group.start_soon(client.read_device, "dev_1")

    for backend in ("asyncio", "trio"):
        anyio.run(run, backend=backend)
    assert (service.tokens, len(service.requests)) == (2, 32)


@pytest.mark.parametrize("clock", [0, -86_400, 86_400])
def test_renews_a_token_by_its_lifetime_and_not_by_the_local_clock(
    flavour: str, clock: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("perigee._flows.monotonic", lambda: now)
    service = Service(OK, clock=clock)
    client = service.client(flavour)
    client.read_device("dev_1")
    now += 3500
    client.read_device("dev_1")
    assert service.tokens == 1
    now += 60
    client.read_device("dev_1")
    client.close()
    assert service.tokens == 2


def test_fetches_a_token_again_after_a_lost_reply(flavour: str, no_waiting: list[float]) -> None:
    service = Service(OK)
    service.token_failures = [httpx.ReadError("gone"), problem(502, "internal")]
    client = service.client(flavour)
    client.read_device("dev_1")
    client.close()
    assert (len(no_waiting), service.tokens) == (2, 1)


def test_uses_a_token_until_its_end_when_it_cannot_be_renewed(
    flavour: str, no_waiting: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("perigee._flows.monotonic", lambda: now)
    service = Service(OK)
    client = service.client(flavour, retries=1)
    client.read_device("dev_1")
    now += 3545
    service.token_failures = [httpx.ConnectError("offline"), problem(500, "internal")] * 3
    client.read_device("dev_1")
    client.read_device("dev_1")
    # One attempt for both calls.
    assert (len(service.token_failures), no_waiting) == (5, [])
    now += 50
    client.read_device("dev_1")
    assert {one.headers["Authorization"] for one in service.requests} == {"Bearer t1"}
    now += 10
    with pytest.raises(PerigeeError):
        client.read_device("dev_1")
    assert len(service.token_failures) == 2
    client.close()


def test_renews_a_refused_token_once(flavour: str) -> None:
    service = Service(problem(401, "token-expired"), OK)
    client = service.client(flavour)
    client.read_device("dev_1")
    assert [one.headers["Authorization"] for one in service.requests] == ["Bearer t1", "Bearer t2"]
    service.answers = [problem(401, "token-invalid")]
    with pytest.raises(PerigeeError):
        client.read_device("dev_1")
    client.close()
    assert service.tokens == 3


def test_does_not_renew_a_token_that_it_was_given(flavour: str) -> None:
    service = Service(problem(401, "token-expired"))
    client = service.client(flavour, token="mine", user_name=None, api_key=None)
    with pytest.raises(PerigeeError):
        client.read_device("dev_1")
    client.close()
    assert (len(service.requests), service.tokens) == (1, 0)


def test_repeats_with_the_same_key(flavour: str, no_waiting: list[float]) -> None:
    service = Service(
        httpx.ReadError("gone"),
        problem(503, "unavailable", headers={"Retry-After": "7"}),
        problem(409, "request-in-progress"),
        OK,
    )
    client = service.client(flavour)
    client.create_device({"name": "Tern"})
    client.create_device({"name": "Tern"})
    client.close()
    keys = [one.headers["Idempotency-Key"] for one in service.requests]
    assert len(set(keys[:4])) == 1
    assert keys[4] != keys[0]
    assert len(no_waiting) == 3
    assert no_waiting[1] == 7


def test_repeats_nothing_that_may_have_been_done(flavour: str, no_waiting: list[float]) -> None:
    service = Service(httpx.ReadError("gone"))
    client = service.client(flavour)
    with pytest.raises(httpx.ReadError):
        client.patch_device("dev_1", {"name": "Tern"})
    service.answers = [problem(500, "internal")]
    with pytest.raises(PerigeeError):
        client.patch_device("dev_1", {"name": "Tern"})
    assert len(service.requests) == 2
    service.answers = [httpx.ConnectError("not sent"), OK]
    client.patch_device("dev_1", {"name": "Tern"})
    client.close()
    assert len(no_waiting) == 1


NOT_FOUND = problem(404, "device-not-found")
DONE = {"success": True}


@pytest.mark.parametrize(
    "first", [httpx.ReadError("gone"), problem(500, "internal"), problem(504, "internal")]
)
def test_takes_as_deleted_what_an_attempt_has_deleted(
    flavour: str, no_waiting: list[float], first: Any
) -> None:
    service = Service(first, problem(503, "unavailable"), NOT_FOUND)
    client = service.client(flavour)
    assert client.delete_device("dev_1") == DONE
    # Only a repeat can know.
    with pytest.raises(PerigeeError):
        client.delete_device("dev_1")
    client.close()
    assert len(service.requests) == 4


@pytest.mark.parametrize(
    "answers",
    [
        [problem(503, "unavailable"), NOT_FOUND],
        [problem(429, "too-many-requests"), NOT_FOUND],
        [httpx.ConnectError("not sent"), NOT_FOUND],
        [httpx.ReadError("gone"), httpx.Response(404, text="no such host")],
        [httpx.ReadError("gone"), problem(404, "route-not-found")],
    ],
)
def test_raises_not_found_for_what_no_attempt_can_have_deleted(
    flavour: str, no_waiting: list[float], answers: list[Any]
) -> None:
    service = Service(*answers)
    client = service.client(flavour)
    with pytest.raises(PerigeeError) as refused:
        client.delete_device("dev_1")
    assert refused.value.status == 404
    service.answers = [httpx.ReadError("gone"), NOT_FOUND]
    with pytest.raises(PerigeeError):
        client.read_device("dev_1")
    client.close()


def test_gives_up(flavour: str, no_waiting: list[float]) -> None:
    service = Service(problem(429, "too-many-requests"))
    client = service.client(flavour, retries=2)
    with pytest.raises(PerigeeError) as refused:
        client.read_device("dev_1")
    assert (refused.value.status, len(service.requests)) == (429, 3)
    service.answers = [problem(503, "unavailable", headers={"Retry-After": "86400"})]
    with pytest.raises(PerigeeError) as later:
        client.read_device("dev_1")
    client.close()
    assert (later.value.retry_after, len(service.requests)) == (86400, 4)


def test_reads_replies_that_are_not_of_this_api(flavour: str) -> None:
    service = Service(httpx.Response(404, text="<h1>Not found</h1>"))
    client = service.client(flavour)
    with pytest.raises(PerigeeError) as refused:
        client.read_device("dev_1")
    client.close()
    assert (refused.value.status, refused.value.code) == (404, "internal")


def test_keeps_reports_that_another_than_the_service_has_answered(flavour: str) -> None:
    service = Service(httpx.Response(200, text="<h1>Sign in to this network</h1>"), settle)
    client = service.client(flavour)
    client.report({"identifier": "a", **HERE})
    with pytest.raises(PerigeeError):
        client.flush()
    assert client.flush().accepted == 1
    client.close()


@pytest.mark.parametrize("body", [{}, [], {"success": True, "accepted": "1", "duplicates": 0}])
def test_keeps_reports_whose_reply_has_no_counts(flavour: str, body: Any) -> None:
    service = Service(httpx.Response(200, json=body), settle)
    client = service.client(flavour)
    client.report({"identifier": "a", **HERE})
    with pytest.raises(PerigeeError):
        client.flush()
    assert len(client.pending) == 1
    assert client.flush().accepted == 1
    client.close()


def test_writes_the_path_and_the_query(flavour: str) -> None:
    service = Service(OK)
    client = service.client(flavour, version="2026-11-01")
    client.read_device("a/b?c")
    assert service.requests[0].url.raw_path == b"/api/devices/a%2Fb%3Fc"
    assert service.requests[0].headers["Perigee-Version"] == "2026-11-01"
    client.list_devices_page(ids=["dev_1", "dev_2"], deleted=True)
    assert dict(service.requests[1].url.params) == {"ids": "dev_1,dev_2", "deleted": "true"}
    for wrong in ("", "..", "."):
        with pytest.raises(ValueError, match="must not be"):
            client.read_device(wrong)
    with pytest.raises(ValueError, match="time zone"):
        client.list_locations_page("dev_1", from_=datetime(2026, 1, 1))
    client.close()


HERE = {"dateTime": "2026-01-01T00:00:00Z", "latitude": 38.7, "longitude": -9.1}


def settle(request: httpx.Request) -> httpx.Response:
    count = len(json.loads(request.content)["locations"])
    body = {"success": True, "accepted": count, "duplicates": 0, "results": []}
    return httpx.Response(200, json=body)


def test_sends_a_full_batch_by_itself(flavour: str) -> None:
    service = Service(settle)
    client = service.client(flavour)
    client.report(*[{"identifier": str(n), **HERE} for n in range(2500)])
    assert [len(json.loads(one.content)["locations"]) for one in service.requests] == [1000, 1000]
    assert len(client.pending) == 500
    assert client.flush().accepted == 2500
    client.report(*[{"identifier": "a", **HERE, "attributes": {"a": "x" * 4000}}] * 600)
    client.flush()
    client.close()
    assert len(service.requests) == 6
    assert max(len(one.content) for one in service.requests) <= 1024 * 1024


def test_sends_what_fills_a_body_without_waiting(flavour: str) -> None:
    service = Service(settle)
    client = service.client(flavour)
    large = {"identifier": "a", **HERE, "attributes": {"a": "x" * 4000}}
    for _ in range(300):
        client.report(large)
    assert len(service.requests) == 1
    assert len(client.pending) < 50
    client.close()


def refuse_larger_than(max_bytes: int, refusal: httpx.Response) -> Any:
    return lambda request: refusal if len(request.content) > max_bytes else settle(request)


def test_sends_smaller_batches_through_a_proxy_that_takes_less(flavour: str) -> None:
    service = Service(refuse_larger_than(20_000, httpx.Response(413, text="too large")))
    client = service.client(flavour)
    client.report(*[{"identifier": str(n), **HERE} for n in range(1000)])
    summary = client.flush()
    assert (summary.accepted, summary.rejected) == (1000, [])
    # Once they are taken, batches grow again.
    service.answers = [settle]
    for _ in range(40):
        client.report(*[{"identifier": str(n), **HERE} for n in range(1000)])
    client.close()
    assert len(json.loads(service.requests[-1].content)["locations"]) == 1000


def test_sends_smaller_batches_after_a_timeout(flavour: str, no_waiting: list[float]) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if len(json.loads(request.content)["locations"]) > 300:
            raise httpx.WriteTimeout("slow")
        return settle(request)

    client = Service(answer).client(flavour, retries=1, max_pending=1000)
    client.report(*[{"identifier": str(n), **HERE} for n in range(999)])
    for _ in range(2):
        with pytest.raises(httpx.WriteTimeout):
            client.flush()
    assert len(client.pending) == 999
    with pytest.raises(httpx.WriteTimeout):
        # Batches that are taken grow again.
        client.flush()
    assert len(client.pending) < 999
    client.close()


def test_keeps_the_size_of_batches_that_were_not_sent(
    flavour: str, no_waiting: list[float]
) -> None:
    service = Service(*[httpx.ConnectError("offline")] * 2, settle)
    client = service.client(flavour, retries=0)
    client.report(*[{"identifier": str(n), **HERE} for n in range(999)])
    for _ in range(2):
        with pytest.raises(httpx.ConnectError):
            client.flush()
    client.flush()
    client.close()
    assert len(service.requests) == 3


def test_keeps_a_location_that_a_proxy_refuses(flavour: str) -> None:
    service = Service(httpx.Response(413, text="too large"))
    client = service.client(flavour)
    client.report(*[{"identifier": name, **HERE} for name in "abc"])
    with pytest.raises(PerigeeError) as refused:
        client.flush()
    assert (refused.value.status, len(client.pending)) == (413, 3)
    service.answers = [problem(413, "body-too-large"), settle]
    summary = client.flush()
    client.close()
    [rejected] = summary.rejected
    assert (summary.accepted, rejected.location["identifier"]) == (2, "a")


def test_remembers_the_last_thousand_rejections(flavour: str) -> None:
    def refuse_all(request: httpx.Request) -> httpx.Response:
        count = len(json.loads(request.content)["locations"])
        results = [{"index": index, "status": "tooOld"} for index in range(count)]
        body = {"success": True, "accepted": 0, "duplicates": 0, "results": results}
        return httpx.Response(200, json=body)

    service = Service(refuse_all)
    client = service.client(flavour)
    client.report(*[{"identifier": str(n), **HERE} for n in range(2500)])
    summary = client.flush()
    assert (len(summary.rejected), summary.omitted) == (1000, 1500)
    assert summary.rejected[-1].location["identifier"] == "2499"
    assert client.flush().omitted == 0
    client.close()


def test_sends_once_what_a_signal_handler_has_sent() -> None:
    """A `flush` in a signal handler interrupts a `flush` that waits for the reply."""
    sizes: list[int] = []

    def answer(request: httpx.Request) -> httpx.Response:
        is_first = not sizes
        sizes.append(len(json.loads(request.content)["locations"]))
        if is_first:
            client.flush()
            client.report(*[{"identifier": f"late {n}", **HERE} for n in range(2)])
        return settle(request)

    client = Service(answer).client("sync")
    client.report(*[{"identifier": str(n), **HERE} for n in range(3)])
    client.flush()
    client.close()
    assert client.pending == []
    assert sizes == [3, 3, 2]


def test_fetches_a_token_in_a_signal_handler_that_interrupts_another() -> None:
    service = Service(settle)
    has_flushed = threading.Event()

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/api/Auth/Token" and service.tokens == 0:
            service.tokens = 1
            client.flush()
        return service(request)

    client = Perigee(
        "http://service", user_name="demo", api_key="k", transport=httpx.MockTransport(answer)
    )
    client.report({"identifier": "a", **HERE})

    def flush() -> None:
        client.flush()
        has_flushed.set()

    threading.Thread(target=flush, daemon=True).start()
    assert has_flushed.wait(5)
    client.close()
    assert client.pending == []


def test_keeps_what_could_not_be_sent(flavour: str, no_waiting: list[float]) -> None:
    service = Service(httpx.ConnectError("offline"))
    client = service.client(flavour, retries=1, max_pending=1002)
    client.report(*[{"identifier": str(n), **HERE} for n in range(1000)])
    client.report({"identifier": "later", **HERE})
    # One attempt, and none at once after it.
    assert (len(service.requests), len(client.pending)) == (1, 1001)
    with pytest.raises(httpx.ConnectError):
        client.flush()
    assert len(client.pending) == 1001
    with pytest.raises(ReportQueueFull):
        client.report({"identifier": "a", **HERE}, {"identifier": "b", **HERE})
    service.answers = [settle]
    assert client.flush().accepted == 1001
    client.close()


def test_takes_out_what_is_not_valid(flavour: str) -> None:
    errors = [{"pointer": "/locations/1/latitude", "detail": "must be at most 90"}]
    service = Service(problem(400, "invalid-request", errors=errors), settle)
    client = service.client(flavour)
    for name in ("a", "b", "c"):
        client.report({"identifier": name, **HERE})
    summary = client.flush()
    client.close()
    assert summary.accepted == 2
    [rejected] = summary.rejected
    assert (rejected.location["identifier"], rejected.status) == ("b", "invalid")
    assert rejected.detail == "/latitude must be at most 90"


def test_raises_what_no_location_is_at_fault_for(flavour: str) -> None:
    service = Service(problem(400, "invalid-request", errors=[]))
    client = service.client(flavour)
    client.report({"identifier": "a", **HERE})
    with pytest.raises(PerigeeError):
        client.flush()
    client.close()
    assert len(service.requests) == 1


def test_sends_what_is_pending_at_the_end() -> None:
    service = Service(settle)
    with service.client("sync") as client:
        client.report({"identifier": "a", **HERE})
    assert len(service.requests) == 1


def test_keeps_what_is_pending_after_an_exception() -> None:
    service = Service(settle)
    transport = httpx.MockTransport(service)
    options: Any = {"user_name": "demo", "api_key": "pgk", "transport": transport}
    location = {"identifier": "a", **HERE}
    with pytest.raises(KeyError), Perigee("http://service", **options) as client:
        client.report(location)
        raise KeyError
    assert client.pending == [location]

    async def run() -> None:
        with pytest.raises(KeyError):
            async with AsyncPerigee("http://service", **options) as client:
                await client.report(location)
                raise KeyError
        assert client.pending == [location]

    anyio.run(run)
    assert service.requests == []


def test_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PERIGEE_URL", "PERIGEE_USER_NAME", "PERIGEE_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="PERIGEE_URL"):
        Perigee()
    with pytest.raises(ValueError, match="PERIGEE_API_KEY"):
        Perigee("https://service", user_name="demo")
