"""Shares devices with Google Earth by a KML network link."""

import argparse
import json
from datetime import datetime, timedelta, timezone

from perigee import Perigee

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("name", help="what viewers read")
parser.add_argument("--days", type=int, default=7, help="how long the address works")
parser.add_argument("--history", type=int, default=24, help="hours of track to show")
parser.add_argument("--delay", type=int, default=0, help="minutes by which positions are late")
parser.add_argument("--precision", choices=["exact", "1km", "10km"], default="exact")
options = parser.parse_args()

with Perigee() as perigee:
    reply = perigee.create_share(
        {
            "name": options.name,
            "devices": [device["id"] for device in perigee.list_devices(state="active")],
            "until": datetime.now(timezone.utc) + timedelta(days=options.days),
            "history": options.history,
            "delayMinutes": options.delay,
            "precision": options.precision,
        }
    )
print(json.dumps({"id": reply["share"]["id"], "link": f"{reply['url']}/link.kml"}))
