"""Shares devices with Google Earth by a KML network link."""

import argparse
import json
import sys
from datetime import datetime, timedelta, timezone

from perigee import Perigee

MAX_DEVICES = 100


def active_devices(perigee: Perigee) -> list[str]:
    ids = [device["id"] for device in perigee.list_devices(state="active")]
    if not ids:
        sys.exit("There are no active devices to share.")
    if len(ids) > MAX_DEVICES:
        sys.exit(
            f"A share names at most {MAX_DEVICES} devices, and {len(ids)} are active: "
            "put them into a group and give --group with its id."
        )
    return ids


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("name", help="what viewers read")
parser.add_argument("--group", help="id of the group to share, not all active devices")
parser.add_argument("--days", type=int, default=7, help="how long the address works")
parser.add_argument("--history", type=int, default=24, help="hours of track to show")
parser.add_argument("--delay", type=int, default=0, help="minutes by which positions are late")
parser.add_argument("--precision", choices=["exact", "1km", "10km"], default="exact")
options = parser.parse_args()

with Perigee() as perigee:
    reply = perigee.create_share(
        {
            "name": options.name,
            "devices": [] if options.group else active_devices(perigee),
            "groups": [options.group] if options.group else [],
            "until": datetime.now(timezone.utc) + timedelta(days=options.days),
            "history": options.history,
            "delayMinutes": options.delay,
            "precision": options.precision,
        }
    )
print(json.dumps({"id": reply["share"]["id"], "link": f"{reply['url']}/link.kml"}))
