"""Verifies the calls of a webhook (https://www.standardwebhooks.com)."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from typing import cast

from .generated.types import Event

TOLERANCE_SECONDS = 5 * 60
MAX_DIGITS = 16


class WebhookVerificationError(ValueError):
    """The call does not come from Perigee, or is too old. Reply with 401."""


def verify_webhook(
    secret: str | Sequence[str],
    headers: Mapping[str, str],
    body: bytes | str,
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
) -> list[Event]:
    """The events of a call. `body` must be what was received, byte for byte.

    `secret` is the secret of the webhook, or several of which one must fit, as during a rotation.
    """
    keys = [_key_of(one) for one in ([secret] if isinstance(secret, str) else secret)]
    given = {name.lower(): value for name, value in headers.items()}
    try:
        delivery = given["webhook-id"]
        timestamp = given["webhook-timestamp"]
        signatures = given["webhook-signature"]
    except KeyError as missing:
        raise WebhookVerificationError(f"the header {missing.args[0]} is missing") from None
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < MAX_DIGITS):
        raise WebhookVerificationError("webhook-timestamp is not a time in seconds")
    if abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise WebhookVerificationError("webhook-timestamp is too far from the present")
    content = _bytes_of(body) if isinstance(body, str) else body
    signed = _bytes_of(f"{delivery}.{timestamp}.") + content
    # Compares every key with every signature: after a rotation of the secret there are two.
    given_signatures = [_bytes_of(one) for one in signatures.split(" ")]
    expected = [b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256")) for key in keys]
    matches = [hmac.compare_digest(a, b) for a in expected for b in given_signatures]
    if not any(matches):
        raise WebhookVerificationError("no signature fits the body and the secret")
    return cast("list[Event]", json.loads(content)["events"])


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    # Anybody can sign with an empty key.
    if not key:
        raise WebhookVerificationError("the secret must be `whsec_` and base64")
    return key


def _bytes_of(text: str) -> bytes:
    """What a server has decoded may have lone surrogates."""
    return text.encode("utf-8", "surrogatepass")
