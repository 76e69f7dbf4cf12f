"""The tests against a service need PERIGEE_URL, PERIGEE_USER_NAME and PERIGEE_API_KEY."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import Iterator
from typing import Any

import pytest

from perigee import AsyncPerigee, Perigee


class Blocking:
    """An `AsyncPerigee` that is used like a `Perigee`, so that a test covers both."""

    def __init__(self, *args: Any, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = AsyncPerigee(*args, **options)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._client, name)
        return self._blocking(value) if callable(value) else value

    def _blocking(self, method: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            result = method(*args, **options)
            if inspect.isawaitable(result):
                return self._loop.run_until_complete(result)
            return self._rows(result) if hasattr(result, "__anext__") else result

        return call

    def _rows(self, rows: Any) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(anext(rows))
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(rows.aclose())

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.close()


def open_client(flavour: str, *args: Any, **options: Any) -> Any:
    return Perigee(*args, **options) if flavour == "sync" else Blocking(*args, **options)


@pytest.fixture(params=["sync", "async"])
def flavour(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def perigee(flavour: str) -> Iterator[Perigee]:
    if "PERIGEE_URL" not in os.environ:
        pytest.skip("needs a running service")
    client = open_client(flavour)
    yield client
    client.close()


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the clients would have waited."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("perigee._sync.sleep", waited.append)
    monkeypatch.setattr("perigee._async.sleep", sleep)
    return waited
