"""Locations that wait to be sent."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._call import to_json
from ._errors import PerigeeError, ReportQueueFull
from .generated.types import AddressedLocation

MAX_BATCH = 1000
# Less than the 1 MiB of a body, which has some bytes around the locations.
MAX_BATCH_BYTES = 1024 * 1024 - 1024
MAX_REJECTED = 1000
MAX_WAIT_SECONDS = 5.0
RETRY_SECONDS = 30.0


@dataclass(frozen=True)
class RejectedLocation:
    """A location that the service did not take, and why."""

    location: dict[str, Any]
    # `duplicate`, `conflict`, `tooOld`, `unknown`, `refused` or `invalid`.
    status: str
    detail: str


@dataclass
class ReportSummary:
    """What became of the locations since the last `flush`."""

    accepted: int = 0
    duplicates: int = 0
    # The last 1000 that were not stored.
    rejected: list[RejectedLocation] = field(default_factory=list)
    # How many were rejected before these.
    omitted: int = 0

    def reject(self, text: bytes, status: str, detail: str) -> None:
        self.rejected.append(RejectedLocation(json.loads(text), status, detail))
        if len(self.rejected) > MAX_REJECTED:
            del self.rejected[0]
            self.omitted += 1


class ReportQueue:
    def __init__(self, max_pending: int) -> None:
        self._max_pending = max_pending
        self._waiting: deque[bytes] = deque()
        self._waiting_bytes = 0
        self._max_batch_bytes = MAX_BATCH_BYTES
        self._oldest_at = 0.0
        self._not_before = 0.0
        self._summary = ReportSummary()

    @property
    def pending(self) -> list[dict[str, Any]]:
        return [json.loads(text) for text in self._waiting]

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, locations: Sequence[AddressedLocation | Mapping[str, Any]]) -> None:
        texts = [to_json(location) for location in locations]
        for text in texts:
            if len(text) > MAX_BATCH_BYTES:
                raise ValueError("a location must be smaller than 1 MiB")
        if len(self._waiting) + len(texts) > self._max_pending:
            raise ReportQueueFull(f"{len(self._waiting)} locations wait to be sent")
        if not self._waiting:
            self._oldest_at = time.monotonic()
        self._waiting_bytes += _size_of(texts)
        self._waiting.extend(texts)

    def is_due(self) -> bool:
        """Whether to send now: a batch is full or old, and the last failure is not too recent."""
        now = time.monotonic()
        if not self._waiting or now < self._not_before:
            return False
        is_full = len(self._waiting) >= MAX_BATCH or self._waiting_bytes >= self._max_batch_bytes
        return is_full or now - self._oldest_at >= MAX_WAIT_SECONDS

    def postpone(self) -> None:
        self._not_before = time.monotonic() + RETRY_SECONDS

    def next_batch(self) -> list[bytes]:
        batch: list[bytes] = []
        size = 0
        for text in self._waiting:
            size += len(text) + 1
            if batch and (len(batch) == MAX_BATCH or size > self._max_batch_bytes):
                break
            batch.append(text)
        return batch

    def settle(self, reply: Mapping[str, Any], batch: Sequence[bytes]) -> None:
        """Takes out a batch that the service has answered."""
        removed = self._remove(batch, range(len(batch)))
        self._oldest_at = time.monotonic()
        self._not_before = 0.0
        # Smaller batches grow again: it may not have been their size.
        larger = self._max_batch_bytes + self._max_batch_bytes // 8 + 1
        self._max_batch_bytes = min(MAX_BATCH_BYTES, larger)
        self._summary.accepted += reply["accepted"]
        self._summary.duplicates += reply["duplicates"]
        for result in reply["results"]:
            index, status = result["index"], result["status"]
            if status != "duplicate" and index in removed:
                self._summary.reject(batch[index], status, result.get("code") or status)

    def shrink(self, batch: Sequence[bytes]) -> None:
        """Makes the next batch smaller than one that was too large or got no reply in time."""
        if len(batch) > 1:
            self._max_batch_bytes = _size_of(batch) // 2

    def refuse(self, problem: PerigeeError, batch: Sequence[bytes]) -> bool:
        """Takes out what makes a batch invalid. False if the batch cannot be sent otherwise."""
        found: dict[int, str] = {}
        if problem.status == 400:
            found = _invalid_locations(problem, len(batch))
        elif problem.status == 413 and len(batch) > 1:
            # A proxy may take less than the service.
            self.shrink(batch)
            return True
        elif problem.code == "body-too-large":
            found = {0: problem.detail}
        for index in sorted(self._remove(batch, found)):
            self._summary.reject(batch[index], "invalid", found[index])
        return bool(found)

    def _remove(self, batch: Sequence[bytes], indexes: Container[int]) -> set[int]:
        """Takes out those of a batch that still wait. The others stay first in the queue.

        A `flush` in a signal handler may have sent them before the `flush` that it interrupted.
        """
        removed: set[int] = set()
        kept: list[bytes] = []
        for index, text in enumerate(batch):
            if not self._waiting:
                break
            first = self._waiting.popleft()
            if first is not text:
                self._waiting.appendleft(first)
            elif index in indexes:
                removed.add(index)
            else:
                kept.append(text)
        self._waiting.extendleft(reversed(kept))
        left = self._waiting_bytes - _size_of([batch[index] for index in removed])
        self._waiting_bytes = left if self._waiting else 0
        return removed

    def take_summary(self) -> ReportSummary:
        summary, self._summary = self._summary, ReportSummary()
        return summary


def is_settlement(reply: Any) -> bool:
    """Whether a reply says what became of a batch."""
    return (
        isinstance(reply, dict)
        and all(isinstance(reply.get(name), int) for name in ("accepted", "duplicates"))
        and isinstance(reply.get("results"), list)
    )


def _size_of(texts: Sequence[bytes]) -> int:
    """The bytes of locations and the commas between them."""
    return sum(map(len, texts)) + len(texts)


def _invalid_locations(problem: PerigeeError, count: int) -> dict[int, str]:
    """What is wrong with which locations of a batch."""
    found: dict[int, list[str]] = {}
    for error in problem.errors:
        match = re.match(r"/locations/(\d+)(/.*)?$", error["pointer"])
        if match and int(match[1]) < count:
            reason = f"{match[2] or ''} {error['detail']}".strip()
            found.setdefault(int(match[1]), []).append(reason)
    return {index: "; ".join(reasons) for index, reasons in found.items()}
