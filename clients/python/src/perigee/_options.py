from __future__ import annotations

import os
from importlib.metadata import version as installed_version

USER_AGENT = f"perigee-python/{installed_version('perigee')}"
TIMEOUT_SECONDS = 30.0


def address_of(url: str | None) -> str:
    given = url or os.environ.get("PERIGEE_URL")
    if not given:
        raise ValueError("url must be given, here or as PERIGEE_URL")
    if not given.startswith(("https://", "http://")):
        raise ValueError("url must begin with https:// or http://")
    return given.rstrip("/")


def credentials_of(
    user_name: str | None, api_key: str | None, has_token: bool
) -> tuple[str | None, str | None]:
    if has_token:
        return None, None
    user_name = user_name or os.environ.get("PERIGEE_USER_NAME")
    api_key = api_key or os.environ.get("PERIGEE_API_KEY")
    if not user_name or not api_key:
        raise ValueError(
            "user_name and api_key must be given, here or as PERIGEE_USER_NAME and "
            "PERIGEE_API_KEY, or a token"
        )
    return user_name, api_key
