"""Takes the calls of a webhook of Perigee."""

import json
import os
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from perigee import WebhookVerificationError, verify_webhook
from perigee.types import Event

SECRET = os.environ["PERIGEE_WEBHOOK_SECRET"]
SEQUENCES = Path(os.environ.get("SEQUENCES_FILE", "sequences"))
MAX_SEQUENCES = 10_000
MAX_BODY_BYTES = 4 * 1024 * 1024
lock = threading.Lock()
# The sequences of the last events that were handled.
handled: deque[int] = deque(maxlen=MAX_SEQUENCES)
if SEQUENCES.exists():
    handled.extend(map(int, SEQUENCES.read_text().split()))


def handle(event: Event) -> None:
    """Replace this with what you want to do."""
    print(json.dumps(event), flush=True)


def handle_new(events: list[Event]) -> None:
    """A call may be repeated, so events that have been handled are left out.

    A delivery that is repeated by hand may be older than the last one.
    """
    with lock:
        for event in events:
            if event["sequence"] in handled:
                continue
            handle(event)
            # Every test event has the sequence 0.
            if event["sequence"] > 0:
                handled.append(event["sequence"])
        # Replaced whole: a power cut leaves the old file or the new one.
        following = SEQUENCES.with_suffix(".new")
        following.write_text("\n".join(map(str, handled)))
        following.replace(SEQUENCES)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY_BYTES:
            return self.reply(413)
        body = self.rfile.read(length)
        try:
            events = verify_webhook(SECRET, dict(self.headers.items()), body)
        except WebhookVerificationError:
            return self.reply(401)
        handle_new(events)
        self.reply(204)

    def reply(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Receiver)
    print(json.dumps({"listening": server.server_port}), flush=True)
    server.serve_forever()
