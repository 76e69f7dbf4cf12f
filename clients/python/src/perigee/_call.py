"""One call of the API, before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """`T` is the type of the reply."""

    method: str
    path_template: str
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    content_type: str = "application/json"
    accept: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    if_match: str | None = None
    # Whether the operation takes an `Idempotency-Key`. A call without one of its own gets one.
    takes_key: bool = False
    key: str | None = None
    # Whether the operation needs no token.
    is_open: bool = False
    # Whether a `POST` without a key does no harm when it is carried out twice.
    is_repeatable: bool = False

    @property
    def target(self) -> str:
        """The path and the query."""
        path = self.path_template
        for name, value in self.path.items():
            if value in ("", ".", ".."):
                raise ValueError(f"{name} must not be {value!r}")
            path = path.replace(f"{{{name}}}", quote(value, safe=""))
        query = urlencode(
            [(name, text_of(value)) for name, value in self.query.items() if value is not None]
        )
        return f"{path}?{query}" if query else path

    def content(self) -> bytes | None:
        if self.body is None:
            return None
        return bytes(self.body) if isinstance(self.body, (bytes, bytearray)) else to_json(self.body)


def text_of(value: Any) -> str:
    """A value as the query writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (datetime, date)):
        return time_of(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(value)
    return str(value)


def time_of(value: datetime | date) -> str:
    if isinstance(value, datetime) and value.utcoffset() is None:
        raise ValueError("a datetime needs a time zone, for example datetime.now(timezone.utc)")
    return value.isoformat()


def to_json(value: Any) -> bytes:
    text = json.dumps(
        value, default=_encode, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode()


def _encode(value: Any) -> Any:
    if isinstance(value, (datetime, date)):
        return time_of(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")
