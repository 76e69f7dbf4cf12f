"""Replies with flat JSON for Grafana's data source Infinity."""

import json
import os
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from perigee import Perigee, PerigeeError

MAX_ROWS = 20_000
perigee = Perigee()


def time_of(milliseconds: str) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, timezone.utc)


def devices(_: dict[str, str]) -> list[dict[str, Any]]:
    rows = []
    for device in perigee.list_devices():
        where = device["lastLocation"]
        rows.append(
            {
                "id": device["id"],
                "name": device["name"],
                "state": device["state"],
                "time": where["dateTime"] if where else None,
                "latitude": where["latitude"] if where else None,
                "longitude": where["longitude"] if where else None,
            }
        )
    return rows


def track(query: dict[str, str]) -> list[dict[str, Any]]:
    found = perigee.list_locations(
        query["device"], from_=time_of(query["from"]), to=time_of(query["to"])
    )
    return [
        {
            "time": one["dateTime"],
            "latitude": one["latitude"],
            "longitude": one["longitude"],
            "speed": one.get("speed"),
            "battery": one.get("battery"),
        }
        for one in islice(found, MAX_ROWS)
    ]


def alerts(query: dict[str, str]) -> list[dict[str, Any]]:
    found = perigee.list_alerts(from_=time_of(query["from"]), to=time_of(query["to"]))
    return [
        {
            "time": one["dateTime"],
            "device": one["deviceId"],
            "alert": ", ".join(one["alerts"]),
            "state": one["state"],
            "text": one["text"],
        }
        for one in islice(found, MAX_ROWS)
    ]


ROUTES = {"/devices": devices, "/track": track, "/alerts": alerts}


class Bridge(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        address = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(address.query).items()}
        route = ROUTES.get(address.path)
        if route is None:
            return self.reply(404, {"error": f"There are {', '.join(ROUTES)}."})
        try:
            self.reply(200, route(query))
        except PerigeeError as error:
            status = error.status if error.status >= 400 else 502
            self.reply(status, {"error": error.detail})
        except httpx.TransportError:
            self.reply(502, {"error": "The service cannot be reached."})
        except (KeyError, ValueError, OverflowError) as error:
            self.reply(400, {"error": f"{error} is missing or not valid"})

    def reply(self, status: int, body: Any) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9100"))), Bridge)
    print(json.dumps({"listening": server.server_port}), flush=True)
    server.serve_forever()
