"""Takes the calls of a webhook of Perigee."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from perigee import WebhookVerificationError, verify_webhook
from perigee.types import Event

SECRET = os.environ["PERIGEE_WEBHOOK_SECRET"]
SEQUENCE = Path(os.environ.get("SEQUENCE_FILE", "sequence"))
MAX_BODY_BYTES = 4 * 1024 * 1024
lock = threading.Lock()


def handle(event: Event) -> None:
    """Replace this with what you want to do."""
    print(json.dumps(event), flush=True)


def handle_new(events: list[Event]) -> None:
    """A call may be repeated, so events that have been handled are left out."""
    with lock:
        last = int(SEQUENCE.read_text()) if SEQUENCE.exists() else 0
        for event in events:
            if event["sequence"] > last:
                handle(event)
                last = event["sequence"]
        # Replaced whole: a power cut leaves the old number or the new one.
        following = SEQUENCE.with_suffix(".new")
        following.write_text(str(last))
        following.replace(SEQUENCE)


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
