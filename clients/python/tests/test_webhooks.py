from __future__ import annotations

import json
import time
from datetime import datetime, timezone

import pytest
from standardwebhooks import Webhook

from perigee import WebhookVerificationError, verify_webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER_SECRET = "whsec_" + "A" * 32
BODY = json.dumps({"events": [{"type": "device.created", "sequence": 1}]})


def headers(age_seconds: int = 0, secret: str = SECRET) -> dict[str, str]:
    """Signed by the library of Standard Webhooks."""
    seconds = int(time.time()) - age_seconds
    when = datetime.fromtimestamp(seconds, timezone.utc)
    return {
        "webhook-id": "dlv_1",
        "webhook-timestamp": str(seconds),
        "webhook-signature": Webhook(secret).sign("dlv_1", when, BODY),
    }


def test_reads_the_events() -> None:
    for body in (BODY, BODY.encode()):
        [event] = verify_webhook(SECRET, headers(), body)
        assert event["type"] == "device.created"
    named = {name.title(): value for name, value in headers().items()}
    assert verify_webhook(SECRET, named, BODY)


def test_takes_one_of_two_signatures() -> None:
    other = headers(secret=OTHER_SECRET)["webhook-signature"]
    both = headers()
    both["webhook-signature"] = f"{other} {both['webhook-signature']}"
    assert verify_webhook(SECRET, both, BODY)


@pytest.mark.parametrize(
    "changed",
    [
        {"webhook-timestamp": "soon"},
        {"webhook-timestamp": "²"},
        {"webhook-timestamp": "9" * 5000},
        {"webhook-id": "\ud800"},
        {"webhook-signature": "v1,\ud800"},
        {"webhook-id": "dlv_2"},
        {"webhook-signature": ""},
        {"webhook-signature": "v1,é"},
        headers(secret=OTHER_SECRET),
    ],
)
def test_refuses_other_headers(changed: dict[str, str]) -> None:
    with pytest.raises(WebhookVerificationError):
        verify_webhook(SECRET, {**headers(), **changed}, BODY)


def test_refuses_what_is_missing_altered_or_old() -> None:
    for given, body in (
        ({}, BODY),
        (headers(), BODY + " "),
        (headers(age_seconds=3600), BODY),
        (headers(age_seconds=-3600), BODY),
    ):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(SECRET, given, body)


def test_takes_one_of_two_secrets() -> None:
    assert verify_webhook([OTHER_SECRET, SECRET], headers(), BODY)
    for secrets in ([], [OTHER_SECRET]):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(secrets, headers(), BODY)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_é", "whsec_%"])
def test_refuses_a_secret_that_is_none(secret: str) -> None:
    with pytest.raises(WebhookVerificationError, match="the secret must be"):
        verify_webhook(secret, headers(), BODY)


def test_takes_calls_as_old_as_it_is_told() -> None:
    old = headers(age_seconds=3600)
    assert verify_webhook(SECRET, old, BODY, tolerance_seconds=4000)
    with pytest.raises(WebhookVerificationError):
        verify_webhook(SECRET, headers(age_seconds=60), BODY, tolerance_seconds=30)
