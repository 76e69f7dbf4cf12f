# What a client written with the generated package does: create, read and change a device, and report.
import os
from datetime import datetime, timezone

from perigee import AuthenticatedClient
from perigee.api.devices import create_device, list_devices, patch_device, read_device
from perigee.api.locations import post_locations
from perigee.api.users import create_user, patch_user
from perigee.models import (
    DeviceBody,
    LocationPage,
    LocationQuery,
    NewLocation,
    PatchDeviceBody,
    PatchUserBody,
    PatchValue,
    PostLocationsReply,
    Problem,
    UserBody,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"])


def ok(reply):
    assert reply is not None and not isinstance(reply, Problem), reply
    assert reply.success is True
    return reply


made = ok(create_device.sync(client=client, body=DeviceBody(name="Tern 7"))).device
assert ok(read_device.sync(client=client, device_id=made.id)).device.name == "Tern 7"

merge = PatchDeviceBody(name="Tern 8", identifier="300434060000001")
changed = ok(patch_device.sync(client=client, device_id=made.id, body=merge)).device
assert (changed.name, changed.identifier) == ("Tern 8", "300434060000001")

step = PatchValue.from_dict({"op": "replace", "path": "/name", "value": "Tern 9"})
assert ok(patch_device.sync(client=client, device_id=made.id, body=[step])).device.name == "Tern 9"

here = NewLocation(date_time=datetime.now(timezone.utc), latitude=38.7, longitude=-9.1)
stored = ok(post_locations.sync(client=client, device_id=made.id, body=here))
assert isinstance(stored, PostLocationsReply) and stored.accepted == 1
query = LocationQuery(from_=here.date_time)
found = ok(post_locations.sync(client=client, device_id=made.id, body=query))
assert isinstance(found, LocationPage) and len(found.locations) == 1
[listed] = ok(list_devices.sync(client=client, limit=10)).devices
assert listed.last_location.latitude == 38.7

ana = UserBody(name="Ana", email="ana@example.com", country="PT", time_zone="Europe/Lisbon")
user = ok(create_user.sync(client=client, body=ana))
patched = ok(patch_user.sync(client=client, user_id=user.id, body=PatchUserBody(name="Ana S")))
assert (patched.name, patched.email) == ("Ana S", "ana@example.com")

refused = create_device.sync(client=client, body=DeviceBody(name=""))
assert isinstance(refused, Problem) and refused.code == "invalid-request", refused
print("create, read, patch, report and list work")
