"""Publishes devices of Perigee to Home Assistant by MQTT discovery."""

import json
import os
import sys
import time
from typing import Any

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.reasoncodes import ReasonCode

from perigee import Perigee, PerigeeError
from perigee.types import Device, Location

PREFIX = os.environ.get("MQTT_DISCOVERY_PREFIX", "homeassistant")
TYPES = ["location.reported", "device.created", "device.updated", "device.deleted"]


def log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def on_connect(_client: mqtt.Client, _data: Any, _flags: Any, reason: ReasonCode, _: Any) -> None:
    log(f"Broker: {reason}")


def connect() -> mqtt.Client:
    client = mqtt.Client(CallbackAPIVersion.VERSION2)
    client.on_connect = on_connect
    if "MQTT_USER" in os.environ:
        client.username_pw_set(os.environ["MQTT_USER"], os.environ.get("MQTT_PASSWORD"))
    client.connect(
        os.environ.get("MQTT_HOST", "localhost"), int(os.environ.get("MQTT_PORT", "1883"))
    )
    client.loop_start()
    return client


def publish(client: mqtt.Client, topic: str, message: dict[str, Any] | None) -> None:
    """Retained, so that Home Assistant has it after a restart. None deletes."""
    text = "" if message is None else json.dumps(message)
    sent = client.publish(topic, text, qos=1, retain=True)
    try:
        sent.wait_for_publish(timeout=30)
    except RuntimeError as error:
        # The client reconnects by itself, and then sends this message.
        log(f"Waits for the broker: {error}")
        while not client.is_connected():
            time.sleep(0.5)


def topic_of(device_id: str, part: str) -> str:
    return f"{PREFIX}/device_tracker/{device_id}/{part}"


def publish_device(client: mqtt.Client, device: Device) -> None:
    config = {
        "name": None,
        "unique_id": device["id"],
        "json_attributes_topic": topic_of(device["id"], "attributes"),
        "source_type": "gps",
        "device": {
            "identifiers": [device["id"]],
            "name": device["name"],
            "manufacturer": "Perigee",
            "model": device["model"] or "Tracker",
        },
    }
    publish(client, topic_of(device["id"], "config"), config)
    if device["lastLocation"]:
        publish_location(client, device["id"], device["lastLocation"])


def publish_location(client: mqtt.Client, device_id: str, location: Location) -> None:
    attributes: dict[str, Any] = {
        "latitude": location["latitude"],
        "longitude": location["longitude"],
        "gps_accuracy": location.get("accuracy", 0),
        "last_seen": location["dateTime"],
    }
    if "battery" in location:
        attributes["battery_level"] = location["battery"]
    publish(client, topic_of(device_id, "attributes"), attributes)


def main() -> None:
    client = connect()
    with Perigee() as perigee:
        last = perigee.list_events_page(limit=1)["lastSequence"]
        for device in perigee.list_devices():
            publish_device(client, device)
        print(json.dumps({"listening": last}), flush=True)
        for event in perigee.stream(after=last, types=TYPES):
            device_id = event["data"]["deviceId"]  # type: ignore[typeddict-item]
            if event["type"] == "device.deleted":
                for part in ("config", "attributes"):
                    publish(client, topic_of(device_id, part), None)
                continue
            # The event may be older than what the device is now.
            try:
                publish_device(client, perigee.read_device(device_id)["device"])
            except PerigeeError as error:
                if error.code != "device-not-found":
                    raise


if __name__ == "__main__":
    main()
