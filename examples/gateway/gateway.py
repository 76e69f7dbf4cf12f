"""Forwards positions from UDP to Perigee."""

import json
import math
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

import httpx

from perigee import Perigee, PerigeeError

FLUSH_SECONDS = 5.0
MAX_SPOOLED = 1_000_000


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def parse(line: str) -> dict[str, Any]:
    identifier, when, latitude, longitude, *rest = line.strip().split(",")
    location = {
        "identifier": identifier,
        "dateTime": when,
        "latitude": number(latitude),
        "longitude": number(longitude),
    }
    return {**location, "speed": number(rest[0])} if rest else location


class Spool:
    """The positions that are not sent yet. One thread adds them, another sends and removes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        content = path.read_bytes() if path.exists() else b""
        if content and not content.endswith(b"\n"):
            # A power cut has torn the last line: the next position begins a new one.
            content += b"\n"
            self._write("ab", b"\n")
        self._lines = content.count(b"\n")

    def add(self, location: dict[str, Any]) -> bool:
        """Stores a position unless the spool is full."""
        with self._lock:
            if self._lines >= MAX_SPOOLED:
                return False
            self._write("ab", json.dumps(location).encode() + b"\n")
            self._lines += 1
            return True

    def read(self, start: int) -> bytes:
        """The lines from a byte on."""
        with self._lock:
            return self._read(start)

    def remove(self, size: int) -> None:
        """Removes the first bytes. What was added after them stays."""
        with self._lock:
            rest = self._read(size)
            # Replaced whole: a power cut leaves the old file or the new one.
            following = self._path.with_suffix(".new")
            self._write("wb", rest, following)
            following.replace(self._path)
            self._lines = rest.count(b"\n")

    def _read(self, start: int) -> bytes:
        if not self._path.exists():
            return b""
        with self._path.open("rb") as file:
            file.seek(start)
            return file.read()

    def _write(self, mode: str, content: bytes, path: Path | None = None) -> None:
        with (path or self._path).open(mode) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def receive(receiver: socket.socket, spool: Spool) -> None:
    """Stores each position at once, and never waits for the network."""
    while True:
        try:
            location = parse(receiver.recv(1024).decode())
        except ValueError:
            log("A datagram is not a position and is left out")
        else:
            if not spool.add(location):
                log("The spool is full: a position is lost")


def report(perigee: Perigee, lines: bytes) -> None:
    """Reports lines of the spool. What cannot be sent now is sent by `flush`."""
    for line in lines.splitlines():
        try:
            location = json.loads(line)
            if not isinstance(location, dict):
                raise TypeError("not an object")
            perigee.report(location)
        except (TypeError, ValueError):
            log("A line of the spool is not a position and is left out")
        except (httpx.TransportError, PerigeeError) as error:
            log(f"Not sent yet: {error}")


def flush(perigee: Perigee) -> bool:
    """Returns whether the service has everything that was reported."""
    try:
        summary = perigee.flush()
    except (httpx.TransportError, PerigeeError) as error:
        log(f"Not sent yet: {error}")
        return False
    for one in summary.rejected:
        log(f"Rejected: {one.location.get('identifier')} {one.detail}")
    print(json.dumps({"accepted": summary.accepted}), flush=True)
    return True


def main() -> None:
    spool = Spool(Path(os.environ.get("SPOOL_FILE", "spool")))
    with (
        Perigee(retries=1, max_pending=MAX_SPOOLED) as perigee,
        socket.socket(type=socket.SOCK_DGRAM) as receiver,
    ):
        receiver.bind(("127.0.0.1", int(os.environ.get("PORT", "5005"))))
        receiving = threading.Thread(target=receive, args=(receiver, spool), daemon=True)
        receiving.start()
        print(json.dumps({"listening": receiver.getsockname()[1]}), flush=True)
        # How much of the spool, in bytes, the client has.
        reported = 0
        while receiving.is_alive():
            lines = spool.read(reported)
            report(perigee, lines)
            reported += len(lines)
            if reported and flush(perigee):
                spool.remove(reported)
                reported = 0
            receiving.join(FLUSH_SECONDS)
        sys.exit("The gateway can no longer receive.")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
