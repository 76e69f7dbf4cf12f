# What GET returns can be sent back with PUT, in the models of the generated package: nothing is lost
# on the way, nothing is refused, and the resource stays as it is.
import os

from perigee import AuthenticatedClient, models
from perigee.api.account import patch_account, read_account
from perigee.api.commands import read_command_channel, set_command_channel
from perigee.api.devices import create_device, list_devices, read_device, replace_device
from perigee.api.groups import create_group, list_groups, read_group, replace_group
from perigee.api.rules import create_rule, list_rules, read_rule, replace_rule
from perigee.api.sources import create_source, list_sources, read_source, replace_source
from perigee.api.users import create_user, list_users, read_user, replace_user
from perigee.api.webhooks import create_webhook, list_webhooks, read_webhook, replace_webhook
from perigee.api.zones import (
    create_zone,
    export_zones,
    import_zones,
    list_zones,
    read_zone,
    replace_zone,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"])
CHANGING = ("lastModified", "modification", "success")


def ok(reply):
    assert reply is not None and not isinstance(reply, models.Problem), reply
    assert reply.success is True
    return reply


def lasting(model):
    return {name: value for name, value in model.to_dict().items() if name not in CHANGING}


def round_trip(name, create, listing, read, replace, bodies, flat=False):
    body_type = getattr(models, f"{name.capitalize()}Body")
    for body in bodies:
        made = ok(create.sync(client=client, body=body_type.from_dict(body)))
        where = {f"{name}_id": made.id if flat else getattr(made, name).id}
        reply = ok(read.sync(client=client, **where))
        shown = reply if flat else getattr(reply, name)
        listed = getattr(ok(listing.sync(client=client)), f"{name}s")
        assert lasting(shown) in [lasting(one) for one in listed], (name, lasting(shown))
        sent = [body_type.from_dict(shown.to_dict())]
        assert lasting(sent[0]) == lasting(shown), (name, sent[0], shown)
        if not flat:
            wrapped = getattr(models, f"Wrapped{name.capitalize()}Body")
            sent.append(wrapped.from_dict(reply.to_dict()))
            assert lasting(getattr(sent[1], name)) == lasting(shown), (name, sent[1])
        for one in sent:
            after = ok(replace.sync(client=client, body=one, **where))
            assert lasting(after if flat else getattr(after, name)) == lasting(shown), (name, after)


round_trip(
    "device",
    create_device,
    list_devices,
    read_device,
    replace_device,
    [
        {"name": "Plain"},
        {
            "name": "Full",
            "identifier": "300434060000077",
            "tags": {"fleet": "north"},
            "limits": {"expires": True, "expirationDate": "2099-01-01", "dailySmsLimit": 7},
        },
    ],
)
device = ok(list_devices.sync(client=client)).devices[0].id
round_trip(
    "group",
    create_group,
    list_groups,
    read_group,
    replace_group,
    [{"name": "None"}, {"name": "One", "devices": [device]}],
    flat=True,
)
ana = {"name": "Ana", "email": "ana.s@example.com", "country": "PT", "timeZone": "Europe/Lisbon"}
round_trip(
    "user",
    create_user,
    list_users,
    read_user,
    replace_user,
    [
        ana,
        {
            **ana,
            "email": "ana.t@example.com",
            "phone": "+881632000000",
            "group": "One",
            "tags": {"shift": "night"},
            "from": "2026-01-01T00:00:00Z",
            "privileges": ["read", "write"],
        },
    ],
    flat=True,
)
SQUARE = [[0.5, 1], [2, 1], [2, 3], [0.5, 1]]
round_trip(
    "zone",
    create_zone,
    list_zones,
    read_zone,
    replace_zone,
    [
        {"name": "Circle", "shape": {"type": "Circle", "center": [-9.1, 38.7], "radius": 500}},
        {"name": "Polygon", "shape": {"type": "Polygon", "coordinates": [SQUARE]}},
        {"name": "Several", "shape": {"type": "MultiPolygon", "coordinates": [[SQUARE]]}},
    ],
)
zone = ok(list_zones.sync(client=client)).zones[0].id
conditions = [
    {"type": "enters", "zones": [zone]},
    {"type": "leaves", "zones": [zone]},
    {"type": "inside", "zones": [zone], "minutes": 5},
    {"type": "outside", "zones": [zone], "minutes": 5},
    {"type": "speed", "above": 90.5},
    {"type": "speed", "below": 5, "zones": [zone]},
    {"type": "value", "member": "battery", "above": 101, "below": 20},
    {"type": "moves", "metres": 200},
    {"type": "stands", "minutes": 30},
    {"type": "silent", "minutes": 60},
    {"type": "returns"},
]
night = [{"days": ["mon", "sun"], "from": "20:00", "to": "24:00"}]
round_trip(
    "rule",
    create_rule,
    list_rules,
    read_rule,
    replace_rule,
    [{"name": when["type"], "when": when, "schedule": night} for when in conditions],
)
round_trip(
    "webhook",
    create_webhook,
    list_webhooks,
    read_webhook,
    replace_webhook,
    [{"url": "https://receiver.example/round-trip"}],
)
round_trip(
    "source",
    create_source,
    list_sources,
    read_source,
    replace_source,
    [
        {"name": "App", "provider": "osmand", "settings": {"speedUnit": "m/s"}},
        {"name": "inReach", "provider": "garmin", "settings": {"apiKey": "secret", "sender": "a"}},
        {"name": "SPOT", "provider": "spot"},
    ],
)

channel = ok(read_command_channel.sync(client=client, device_id=device))
body = models.SetCommandChannelBody.from_dict(channel.to_dict())
after = ok(set_command_channel.sync(client=client, device_id=device, body=body))
assert lasting(after) == lasting(channel)

account = ok(read_account.sync(client=client)).account
patch = models.PatchAccountBody.from_dict(account.to_dict())
assert lasting(patch) == lasting(account), (patch, account)
patched = ok(patch_account.sync(client=client, body=patch)).account
assert patched.name == account.name

exported = ok(export_zones.sync(client=client))
assert [one.properties.name for one in exported.features] == ["Circle", "Polygon", "Several"]
again = ok(import_zones.sync(client=client, body=models.ZoneImport.from_dict(exported.to_dict())))
assert [one.shape.to_dict() for one in again.zones] == [
    one.shape.to_dict() for one in ok(list_zones.sync(client=client)).zones[:3]
]
print("what GET returns can be sent back with PUT")
