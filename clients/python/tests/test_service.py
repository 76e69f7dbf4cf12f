"""Uses a running service."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import islice
from typing import Any
from uuid import uuid4

import pytest

from perigee import Perigee, PerigeeError, etag_of
from perigee.types import Device


@pytest.fixture
def device(perigee: Perigee) -> Iterator[Device]:
    made = perigee.create_device({"name": f"Tern {uuid4().hex[:8]}", "identifier": uuid4().hex})
    yield made["device"]
    perigee.delete_device(made["device"]["id"])


def test_creates_reads_and_changes(perigee: Perigee, device: Device) -> None:
    read = perigee.read_device(device["id"])
    assert read["device"]["name"] == device["name"]
    read["device"]["name"] = "Tern 8"
    assert perigee.replace_device(device["id"], read)["device"]["name"] == "Tern 8"
    merged = perigee.patch_device(device["id"], {"description": "north"})
    assert (merged["device"]["name"], merged["device"]["description"]) == ("Tern 8", "north")
    patched = perigee.patch_device(
        device["id"], [{"op": "replace", "path": "/name", "value": "Tern 9"}]
    )
    assert patched["device"]["name"] == "Tern 9"


def test_edits_only_the_version_that_was_read(perigee: Perigee, device: Device) -> None:
    read = perigee.read_device(device["id"])
    perigee.patch_device(device["id"], {"name": "First"}, if_match=etag_of(read))
    with pytest.raises(PerigeeError) as refused:
        perigee.patch_device(device["id"], {"name": "Second"}, if_match=etag_of(read))
    assert (refused.value.status, refused.value.code) == (412, "precondition-failed")


def test_reads_nothing_that_has_not_changed(perigee: Perigee, device: Device) -> None:
    path = f"/api/devices/{device['id']}"
    etag = etag_of(perigee.read_device(device["id"]))
    assert perigee.request("GET", path, headers={"If-None-Match": etag or ""}) is None
    assert perigee.request("GET", path)["device"]["id"] == device["id"]


def test_lists_page_by_page(perigee: Perigee) -> None:
    name = uuid4().hex
    made = [perigee.create_group({"name": f"{name} {n}"})["id"] for n in range(5)]
    found = perigee.list_groups(q=name, page_size=2)
    assert sorted(group["id"] for group in found) == sorted(made)
    page = perigee.list_groups_page(q=name, limit=2)
    assert len(page["groups"]) == 2
    assert page["nextCursor"] is not None
    for group in made:
        perigee.delete_group(group)


def test_reports_and_reads_a_range(perigee: Perigee, device: Device) -> None:
    start = datetime.now(timezone.utc) - timedelta(hours=1)
    for n in range(5):
        when = start + timedelta(minutes=n)
        location = {"dateTime": when, "latitude": 38.7 + n / 100, "longitude": -9.1}
        perigee.report({"identifier": device["identifier"], **location})
    assert len(perigee.pending) == 5
    perigee.report({"identifier": "nobody", **location})
    perigee.report({"deviceId": device["id"], **location, "latitude": 91})
    summary = perigee.flush()
    assert (summary.accepted, perigee.pending) == (5, [])
    assert sorted(one.status for one in summary.rejected) == ["invalid", "unknown"]
    rows = list(perigee.list_locations(device["id"], from_=start, page_size=2))
    assert [row["latitude"] for row in rows] == [38.7 + n / 100 for n in range(5)]
    gpx = b"".join(perigee.download_locations(device["id"], format="gpx", from_=start))
    assert gpx.count(b"<trkpt") == 5


def test_names_what_is_wrong(perigee: Perigee) -> None:
    with pytest.raises(PerigeeError) as refused:
        perigee.create_device({"name": ""})
    assert (refused.value.status, refused.value.code) == (400, "invalid-request")
    assert refused.value.errors[0]["pointer"] == "/name"
    assert refused.value.request_id
    assert "/name" in str(refused.value)
    with pytest.raises(PerigeeError) as missing:
        next(iter(perigee.download_locations("dev_none", format="csv")))
    assert missing.value.code == "device-not-found"


def test_makes_nothing_twice(perigee: Perigee) -> None:
    key = uuid4().hex
    first = perigee.create_group({"name": key}, idempotency_key=key)
    assert perigee.create_group({"name": key}, idempotency_key=key)["id"] == first["id"]
    perigee.delete_group(first["id"])


def test_downloads_an_archive(perigee: Perigee) -> None:
    assert gzip.decompress(b"".join(perigee.export_account())).startswith(b"account.json")


def test_needs_no_token_for_what_is_open(perigee: Perigee) -> None:
    assert perigee.read_health()["success"] is True
    assert "paths" in perigee.read_open_api()


def test_streams_events_and_resumes(perigee: Perigee) -> None:
    before = perigee.list_events_page(limit=1)["lastSequence"]
    made = [perigee.create_device({"name": f"Stream {n}"})["device"]["id"] for n in range(3)]
    events: Any = perigee.stream(after=before, types=["device.created", "device.deleted"])
    first = next(events)
    assert (first["type"], first["data"]["deviceId"]) == ("device.created", made[0])
    events.close()
    resumed: Any = perigee.stream(after=first["sequence"], types="device.*")
    assert [event["data"]["deviceId"] for event in islice(resumed, 2)] == made[1:]
    resumed.close()
    for one in made:
        perigee.delete_device(one)


def test_sends_back_what_it_read(perigee: Perigee, device: Device) -> None:
    """Whatever GET returns can be sent back with PUT, and changes nothing."""
    changing = ("lastModified", "modification", "success")

    def lasting(one: Any) -> dict[str, Any]:
        return {name: value for name, value in one.items() if name not in changing}

    zone = perigee.create_zone(
        {"name": uuid4().hex, "shape": {"type": "Circle", "center": [-9.1, 38.7], "radius": 500}}
    )["zone"]["id"]
    made: list[tuple[str, str]] = [
        ("zone", zone),
        ("device", device["id"]),
        ("group", perigee.create_group({"name": uuid4().hex, "devices": [device["id"]]})["id"]),
    ]
    for when in (
        {"type": "enters", "zones": [zone]},
        {"type": "inside", "zones": [zone], "minutes": 5},
        {"type": "speed", "above": 90.5},
        {"type": "value", "member": "battery", "above": 101, "below": 20},
        {"type": "silent", "minutes": 60},
        {"type": "returns"},
    ):
        schedule = [{"days": ["mon", "sun"], "from": "20:00", "to": "24:00"}]
        rule: Any = {"name": when["type"], "when": when, "schedule": schedule}
        made.append(("rule", perigee.create_rule(rule)["rule"]["id"]))
    source = perigee.create_source({"name": uuid4().hex, "provider": "osmand"})
    made.append(("source", source["source"]["id"]))
    for kind, resource in made:
        path = f"/api/{kind}s/{resource}"
        read = perigee.request("GET", path)
        after = perigee.request("PUT", path, body=read)
        assert lasting(after.get(kind, after)) == lasting(read.get(kind, read)), kind
    for kind, resource in reversed(made):
        if kind != "device":
            perigee.request("DELETE", f"/api/{kind}s/{resource}")
