"""Forwards positions from UDP to Perigee."""

import json
import math
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

import httpx

from perigee import Perigee, PerigeeError

SPOOL = Path(os.environ.get("SPOOL_FILE", "spool"))
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


def store(location: dict[str, Any]) -> None:
    with SPOOL.open("a") as spool:
        spool.write(json.dumps(location) + "\n")
        spool.flush()
        os.fsync(spool.fileno())


def report(perigee: Perigee, location: dict[str, Any]) -> None:
    """What cannot be sent now is sent by `send`."""
    try:
        perigee.report(location)
    except (httpx.TransportError, PerigeeError) as error:
        log(f"Not sent yet: {error}")


def replay(perigee: Perigee) -> int:
    """Reports the positions in the spool, and returns how many there are."""
    content = SPOOL.read_bytes() if SPOOL.exists() else b""
    if content and not content.endswith(b"\n"):
        # A power cut has torn the last line: the next position begins a new one.
        with SPOOL.open("ab") as spool:
            spool.write(b"\n")
    count = 0
    for at, line in enumerate(content.splitlines(), 1):
        try:
            location = json.loads(line)
            if not isinstance(location, dict):
                raise TypeError("not an object")
            report(perigee, location)
            count += 1
        except (TypeError, ValueError):
            log(f"Line {at} of the spool is not a position and is left out")
    return count


def send(perigee: Perigee) -> bool:
    """Empties the spool once the service has everything, and says whether it has."""
    try:
        summary = perigee.flush()
    except (httpx.TransportError, PerigeeError) as error:
        log(f"Not sent yet: {error}")
        return False
    for one in summary.rejected:
        log(f"Rejected: {one.location.get('identifier')} {one.detail}")
    SPOOL.write_text("")
    print(json.dumps({"accepted": summary.accepted}), flush=True)
    return True


def main() -> None:
    with (
        Perigee(retries=1, max_pending=MAX_SPOOLED) as perigee,
        socket.socket(type=socket.SOCK_DGRAM) as receiver,
    ):
        spooled = replay(perigee)
        receiver.bind(("127.0.0.1", int(os.environ.get("PORT", "5005"))))
        receiver.settimeout(1.0)
        print(json.dumps({"listening": receiver.getsockname()[1]}), flush=True)
        next_flush = time.monotonic()
        while True:
            try:
                location = parse(receiver.recv(1024).decode())
            except TimeoutError:
                pass
            except ValueError:
                log("A datagram is not a position and is left out")
            else:
                if spooled < MAX_SPOOLED:
                    store(location)
                    spooled += 1
                    report(perigee, location)
                else:
                    log("The spool is full: a position is lost")
            if spooled and time.monotonic() >= next_flush:
                spooled = 0 if send(perigee) else spooled
                next_flush = time.monotonic() + FLUSH_SECONDS


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    main()
