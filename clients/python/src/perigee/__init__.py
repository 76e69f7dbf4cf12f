"""The client of Perigee: `Perigee` and, with `await`, `AsyncPerigee`."""

from ._async import AsyncPerigee
from ._errors import EventsMissed, PerigeeError, ReportQueueFull
from ._flows import etag_of
from ._reports import RejectedLocation, ReportSummary
from ._sync import Perigee
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "AsyncPerigee",
    "EventsMissed",
    "Perigee",
    "PerigeeError",
    "RejectedLocation",
    "ReportQueueFull",
    "ReportSummary",
    "WebhookVerificationError",
    "etag_of",
    "verify_webhook",
]
