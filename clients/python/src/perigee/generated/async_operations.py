# Written by `npm run openapi` from public/api/openapi.json. Do not edit.
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, TypeVar

from .._call import Call
from . import types as t

T = TypeVar("T")


class AsyncOperations(ABC):
    @abstractmethod
    async def _call(self, call: Call[T]) -> T: ...

    @abstractmethod
    def _rows(self, call: Call[Any], member: str) -> AsyncIterator[Any]: ...

    @abstractmethod
    def _bytes(self, call: Call[Any]) -> AsyncIterator[bytes]: ...

    async def read_health(
        self,
    ) -> t.ReadHealthReply:
        """Check the health of the service. `GET /healthz`"""
        call: Call[t.ReadHealthReply] = Call(
            "GET",
            "/healthz",
            is_open=True,
        )
        return await self._call(call)

    async def read_open_api(
        self,
    ) -> t.ReadOpenApiReply:
        """Read this document. `GET /api/openapi.json`"""
        call: Call[t.ReadOpenApiReply] = Call(
            "GET",
            "/api/openapi.json",
            is_open=True,
        )
        return await self._call(call)

    async def get_token(
        self,
        body: t.GetTokenBody,
    ) -> t.GetTokenReply:
        """Get a token. `POST /api/Auth/Token`"""
        call: Call[t.GetTokenReply] = Call(
            "POST",
            "/api/Auth/Token",
            body=body,
            is_open=True,
        )
        return await self._call(call)

    async def sign_in(
        self,
        body: t.SignInBody,
    ) -> t.SessionTokenReply:
        """Sign in with a password. `POST /api/Auth/SignIn`"""
        call: Call[t.SessionTokenReply] = Call(
            "POST",
            "/api/Auth/SignIn",
            body=body,
            is_open=True,
        )
        return await self._call(call)

    async def list_sessions(
        self,
    ) -> t.SessionList:
        """List sessions. `GET /api/Auth/Sessions`"""
        call: Call[t.SessionList] = Call(
            "GET",
            "/api/Auth/Sessions",
        )
        return await self._call(call)

    async def end_session(
        self,
        session_id: str,
    ) -> t.Done:
        """End a session. `DELETE /api/Auth/Sessions/{sessionId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/Auth/Sessions/{sessionId}",
            path={"sessionId": session_id},
        )
        return await self._call(call)

    async def request_reset(
        self,
        body: t.RequestResetBody,
    ) -> t.Done:
        """Ask for a password reset. `POST /api/Auth/Reset`"""
        call: Call[t.Done] = Call(
            "POST",
            "/api/Auth/Reset",
            body=body,
            is_open=True,
        )
        return await self._call(call)

    async def set_password(
        self,
        body: t.SetPasswordBody,
    ) -> t.SetPasswordReply:
        """Set a password with a link. `POST /api/Auth/Password`"""
        call: Call[t.SetPasswordReply] = Call(
            "POST",
            "/api/Auth/Password",
            body=body,
            is_open=True,
        )
        return await self._call(call)

    async def read_consent(
        self,
        *,
        query: str,
    ) -> t.ConsentReply:
        """Read what a program asks for. `GET /api/Auth/Consent`"""
        call: Call[t.ConsentReply] = Call(
            "GET",
            "/api/Auth/Consent",
            query={"query": query},
        )
        return await self._call(call)

    async def decide_consent(
        self,
        body: t.DecideConsentBody,
    ) -> t.ConsentDecision:
        """Let a program act for the user, or refuse. `POST /api/Auth/Consent`"""
        call: Call[t.ConsentDecision] = Call(
            "POST",
            "/api/Auth/Consent",
            body=body,
        )
        return await self._call(call)

    async def read_me(
        self,
    ) -> t.ReadMeReply:
        """Read who is calling. `GET /api/me`"""
        call: Call[t.ReadMeReply] = Call(
            "GET",
            "/api/me",
        )
        return await self._call(call)

    async def list_push_subscriptions(
        self,
    ) -> t.PushSubscriptionList:
        """List the browsers that get notifications. `GET /api/me/pushSubscriptions`"""
        call: Call[t.PushSubscriptionList] = Call(
            "GET",
            "/api/me/pushSubscriptions",
        )
        return await self._call(call)

    async def create_push_subscription(
        self,
        body: t.PushSubscriptionBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.PushSubscriptionReply:
        """Turn notifications on in a browser. `POST /api/me/pushSubscriptions`"""
        call: Call[t.PushSubscriptionReply] = Call(
            "POST",
            "/api/me/pushSubscriptions",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def delete_push_subscription(
        self,
        subscription_id: str,
    ) -> t.Done:
        """Turn notifications off in a browser. `DELETE /api/me/pushSubscriptions/{subscriptionId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/me/pushSubscriptions/{subscriptionId}",
            path={"subscriptionId": subscription_id},
        )
        return await self._call(call)

    async def read_push_key(
        self,
    ) -> t.ReadPushKeyReply:
        """Read the key that browsers subscribe with. `GET /api/push/key`"""
        call: Call[t.ReadPushKeyReply] = Call(
            "GET",
            "/api/push/key",
            is_open=True,
        )
        return await self._call(call)

    def list_keys(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Key]:
        """List API keys: every row, page by page. `GET /api/account/keys`"""
        call: Call[Any] = Call(
            "GET",
            "/api/account/keys",
            query={"limit": page_size},
        )
        return self._rows(call, "keys")

    async def list_keys_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.KeyPage:
        """List API keys: one page. `GET /api/account/keys`"""
        call: Call[t.KeyPage] = Call(
            "GET",
            "/api/account/keys",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_key(
        self,
        body: t.CreateKeyBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewKeyReply:
        """Create an API key. `POST /api/account/keys`"""
        call: Call[t.NewKeyReply] = Call(
            "POST",
            "/api/account/keys",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_key(
        self,
        key_id: str,
    ) -> t.KeyReply:
        """Read an API key. `GET /api/account/keys/{keyId}`"""
        call: Call[t.KeyReply] = Call(
            "GET",
            "/api/account/keys/{keyId}",
            path={"keyId": key_id},
        )
        return await self._call(call)

    async def delete_key(
        self,
        key_id: str,
    ) -> t.Done:
        """Delete an API key. `DELETE /api/account/keys/{keyId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/account/keys/{keyId}",
            path={"keyId": key_id},
        )
        return await self._call(call)

    async def regenerate_key(
        self,
        key_id: str,
        body: t.RegenerateKeyBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewKeyReply:
        """Replace an API key. `POST /api/account/keys/{keyId}/regenerate`"""
        call: Call[t.NewKeyReply] = Call(
            "POST",
            "/api/account/keys/{keyId}/regenerate",
            path={"keyId": key_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_messages(
        self,
        *,
        page_size: int | None = None,
        status: Literal["queued", "sent", "delivered", "failed", "suppressed"] | None = None,
        channel: Literal["Email", "SMS", "Push", "Voice"] | None = None,
        device_id: str | None = None,
        alert_id: str | None = None,
    ) -> AsyncIterator[t.Message]:
        """List messages: every row, page by page. `GET /api/account/messages`"""
        call: Call[Any] = Call(
            "GET",
            "/api/account/messages",
            query={"limit": page_size, "status": status, "channel": channel, "deviceId": device_id, "alertId": alert_id},
        )
        return self._rows(call, "messages")

    async def list_messages_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: Literal["queued", "sent", "delivered", "failed", "suppressed"] | None = None,
        channel: Literal["Email", "SMS", "Push", "Voice"] | None = None,
        device_id: str | None = None,
        alert_id: str | None = None,
    ) -> t.MessagePage:
        """List messages: one page. `GET /api/account/messages`"""
        call: Call[t.MessagePage] = Call(
            "GET",
            "/api/account/messages",
            query={"limit": limit, "cursor": cursor, "status": status, "channel": channel, "deviceId": device_id, "alertId": alert_id},
        )
        return await self._call(call)

    async def retry_message(
        self,
        message_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.MessageReply:
        """Send a message again. `POST /api/account/messages/{messageId}/retry`"""
        call: Call[t.MessageReply] = Call(
            "POST",
            "/api/account/messages/{messageId}/retry",
            path={"messageId": message_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_audit(
        self,
        *,
        page_size: int | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        actor: str | None = None,
        action: str | None = None,
        resource: str | None = None,
    ) -> AsyncIterator[t.AuditEntry]:
        """Read who did what: every row, page by page. `GET /api/account/audit`"""
        call: Call[Any] = Call(
            "GET",
            "/api/account/audit",
            query={"limit": page_size, "from": from_, "to": to, "actor": actor, "action": action, "resource": resource},
        )
        return self._rows(call, "entries")

    async def list_audit_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        actor: str | None = None,
        action: str | None = None,
        resource: str | None = None,
    ) -> t.AuditEntryPage:
        """Read who did what: one page. `GET /api/account/audit`"""
        call: Call[t.AuditEntryPage] = Call(
            "GET",
            "/api/account/audit",
            query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "actor": actor, "action": action, "resource": resource},
        )
        return await self._call(call)

    async def read_account_usage(
        self,
        *,
        from_: t.Date | None = None,
        to: t.Date | None = None,
    ) -> t.ReadAccountUsageReply:
        """Read what the account has used. `GET /api/account/usage`"""
        call: Call[t.ReadAccountUsageReply] = Call(
            "GET",
            "/api/account/usage",
            query={"from": from_, "to": to},
        )
        return await self._call(call)

    def download_account_usage(
        self,
        *,
        from_: t.Date | None = None,
        to: t.Date | None = None,
        format: Literal["json", "csv"],
    ) -> AsyncIterator[bytes]:
        """Read what the account has used, as a file. `GET /api/account/usage`"""
        call: Call[Any] = Call(
            "GET",
            "/api/account/usage",
            query={"from": from_, "to": to, "format": format},
            accept="*/*",
        )
        return self._bytes(call)

    def export_account(
        self,
        *,
        from_: t.Time | None = None,
        to: t.Time | None = None,
    ) -> AsyncIterator[bytes]:
        """Export the whole account. `POST /api/account/export`"""
        call: Call[Any] = Call(
            "POST",
            "/api/account/export",
            query={"from": from_, "to": to},
            accept="application/gzip",
        )
        return self._bytes(call)

    async def list_sandboxes(
        self,
    ) -> t.OwnSandboxReply:
        """List the sandboxes of the account. `GET /api/account/sandbox`"""
        call: Call[t.OwnSandboxReply] = Call(
            "GET",
            "/api/account/sandbox",
        )
        return await self._call(call)

    async def open_sandbox(
        self,
        body: t.OpenSandboxBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.OpenSandboxReply:
        """Open a sandbox. `POST /api/account/sandbox`"""
        call: Call[t.OpenSandboxReply] = Call(
            "POST",
            "/api/account/sandbox",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def keep_sandbox(
        self,
    ) -> t.SandboxReply:
        """Keep this sandbox for longer. `POST /api/account/sandbox/keep`"""
        call: Call[t.SandboxReply] = Call(
            "POST",
            "/api/account/sandbox/keep",
        )
        return await self._call(call)

    async def read_account(
        self,
    ) -> t.AccountReply:
        """Read the account. `GET /api/account`"""
        call: Call[t.AccountReply] = Call(
            "GET",
            "/api/account",
        )
        return await self._call(call)

    async def patch_account(
        self,
        body: t.PatchAccountBody | t.WrappedPatchAccountBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.AccountReply:
        """Change the account. `PATCH /api/account`"""
        call: Call[t.AccountReply] = Call(
            "PATCH",
            "/api/account",
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    def read_license_log(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.LicenseLogEntry]:
        """Read the license log: every row, page by page. `GET /api/account/licenses/log`"""
        call: Call[Any] = Call(
            "GET",
            "/api/account/licenses/log",
            query={"limit": page_size},
        )
        return self._rows(call, "entries")

    async def read_license_log_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.ReadLicenseLogReply:
        """Read the license log: one page. `GET /api/account/licenses/log`"""
        call: Call[t.ReadLicenseLogReply] = Call(
            "GET",
            "/api/account/licenses/log",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    def list_devices(
        self,
        *,
        page_size: int | None = None,
        deleted: bool | None = None,
        state: Literal["active", "expired"] | None = None,
        group: str | None = None,
        identifier: str | None = None,
        ids: str | Sequence[str] | None = None,
        q: str | None = None,
        contains: str | None = None,
        sort: Literal["name", "-name", "creation", "-creation"] | None = None,
    ) -> AsyncIterator[t.Device]:
        """List devices: every row, page by page. `GET /api/devices`"""
        call: Call[Any] = Call(
            "GET",
            "/api/devices",
            query={"limit": page_size, "deleted": deleted, "state": state, "group": group, "identifier": identifier, "ids": ids, "q": q, "contains": contains, "sort": sort},
        )
        return self._rows(call, "devices")

    async def list_devices_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        deleted: bool | None = None,
        state: Literal["active", "expired"] | None = None,
        group: str | None = None,
        identifier: str | None = None,
        ids: str | Sequence[str] | None = None,
        q: str | None = None,
        contains: str | None = None,
        sort: Literal["name", "-name", "creation", "-creation"] | None = None,
    ) -> t.DevicePage:
        """List devices: one page. `GET /api/devices`"""
        call: Call[t.DevicePage] = Call(
            "GET",
            "/api/devices",
            query={"limit": limit, "cursor": cursor, "deleted": deleted, "state": state, "group": group, "identifier": identifier, "ids": ids, "q": q, "contains": contains, "sort": sort},
        )
        return await self._call(call)

    async def create_device(
        self,
        body: t.DeviceBody | t.WrappedDeviceBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.DeviceReply:
        """Create a device. `POST /api/devices`"""
        call: Call[t.DeviceReply] = Call(
            "POST",
            "/api/devices",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_device(
        self,
        device_id: str,
    ) -> t.DeviceReply:
        """Read a device. `GET /api/devices/{deviceId}`"""
        call: Call[t.DeviceReply] = Call(
            "GET",
            "/api/devices/{deviceId}",
            path={"deviceId": device_id},
        )
        return await self._call(call)

    async def replace_device(
        self,
        device_id: str,
        body: t.DeviceBody | t.WrappedDeviceBody | t.DeviceReply,
        *,
        if_match: str | None = None,
    ) -> t.DeviceReply:
        """Replace a device. `PUT /api/devices/{deviceId}`"""
        call: Call[t.DeviceReply] = Call(
            "PUT",
            "/api/devices/{deviceId}",
            path={"deviceId": device_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_device(
        self,
        device_id: str,
        body: t.PatchDeviceBody | t.WrappedPatchDeviceBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.DeviceReply:
        """Change a device. `PATCH /api/devices/{deviceId}`"""
        call: Call[t.DeviceReply] = Call(
            "PATCH",
            "/api/devices/{deviceId}",
            path={"deviceId": device_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_device(
        self,
        device_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a device. `DELETE /api/devices/{deviceId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/devices/{deviceId}",
            path={"deviceId": device_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def reactivate_device(
        self,
        device_id: str,
        body: t.ReactivateDeviceBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.DeviceReply:
        """Reactivate a device. `POST /api/devices/{deviceId}/reactivate`"""
        call: Call[t.DeviceReply] = Call(
            "POST",
            "/api/devices/{deviceId}/reactivate",
            path={"deviceId": device_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def restore_device(
        self,
        device_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.DeviceReply:
        """Restore a deleted device. `POST /api/devices/{deviceId}/restore`"""
        call: Call[t.DeviceReply] = Call(
            "POST",
            "/api/devices/{deviceId}/restore",
            path={"deviceId": device_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_usage(
        self,
        device_id: str,
        *,
        from_: t.Date | None = None,
        to: t.Date | None = None,
    ) -> t.ReadUsageReply:
        """Read a device’s daily usage. `GET /api/devices/{deviceId}/usage`"""
        call: Call[t.ReadUsageReply] = Call(
            "GET",
            "/api/devices/{deviceId}/usage",
            path={"deviceId": device_id},
            query={"from": from_, "to": to},
        )
        return await self._call(call)

    async def read_last_location(
        self,
        device_id: str,
    ) -> t.LocationReply:
        """Read a device’s last location. `GET /api/devices/{deviceId}/lastLocation`"""
        call: Call[t.LocationReply] = Call(
            "GET",
            "/api/devices/{deviceId}/lastLocation",
            path={"deviceId": device_id},
        )
        return await self._call(call)

    def list_locations(
        self,
        device_id: str,
        *,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        page_size: int | None = None,
        order: Literal["asc", "desc"] | None = None,
        geometry: Literal["points", "line"] | None = None,
        simplify: float | None = None,
    ) -> AsyncIterator[t.Location]:
        """Read or export a device’s track: every row, page by page. `GET /api/devices/{deviceId}/locations`"""
        call: Call[Any] = Call(
            "GET",
            "/api/devices/{deviceId}/locations",
            path={"deviceId": device_id},
            query={"from": from_, "to": to, "limit": page_size, "order": order, "geometry": geometry, "simplify": simplify},
        )
        return self._rows(call, "locations")

    async def list_locations_page(
        self,
        device_id: str,
        *,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        geometry: Literal["points", "line"] | None = None,
        simplify: float | None = None,
    ) -> t.LocationPage:
        """Read or export a device’s track: one page. `GET /api/devices/{deviceId}/locations`"""
        call: Call[t.LocationPage] = Call(
            "GET",
            "/api/devices/{deviceId}/locations",
            path={"deviceId": device_id},
            query={"from": from_, "to": to, "limit": limit, "cursor": cursor, "order": order, "geometry": geometry, "simplify": simplify},
        )
        return await self._call(call)

    def download_locations(
        self,
        device_id: str,
        *,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        order: Literal["asc", "desc"] | None = None,
        format: Literal["json", "geojson", "gpx", "kml", "csv"],
        geometry: Literal["points", "line"] | None = None,
        simplify: float | None = None,
    ) -> AsyncIterator[bytes]:
        """Read or export a device’s track, as a file. `GET /api/devices/{deviceId}/locations`"""
        call: Call[Any] = Call(
            "GET",
            "/api/devices/{deviceId}/locations",
            path={"deviceId": device_id},
            query={"from": from_, "to": to, "limit": limit, "cursor": cursor, "order": order, "format": format, "geometry": geometry, "simplify": simplify},
            accept="*/*",
        )
        return self._bytes(call)

    async def post_locations(
        self,
        device_id: str,
        body: t.PostLocationsBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.LocationPage | t.PostLocationsReply:
        """Report locations, or query them. `POST /api/devices/{deviceId}/locations`"""
        call: Call[t.LocationPage | t.PostLocationsReply] = Call(
            "POST",
            "/api/devices/{deviceId}/locations",
            path={"deviceId": device_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def report_locations(
        self,
        body: t.ReportLocationsBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.ReportLocationsReply:
        """Report locations of many devices. `POST /api/locations`"""
        call: Call[t.ReportLocationsReply] = Call(
            "POST",
            "/api/locations",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_events(
        self,
        *,
        after: int | None = None,
        types: str | Sequence[str] | None = None,
        devices: str | Sequence[str] | None = None,
        groups: str | Sequence[str] | None = None,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Event]:
        """List events: every row, page by page. `GET /api/events`"""
        call: Call[Any] = Call(
            "GET",
            "/api/events",
            query={"after": after, "types": types, "devices": devices, "groups": groups, "limit": page_size},
        )
        return self._rows(call, "events")

    async def list_events_page(
        self,
        *,
        after: int | None = None,
        types: str | Sequence[str] | None = None,
        devices: str | Sequence[str] | None = None,
        groups: str | Sequence[str] | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.ListEventsReply:
        """List events: one page. `GET /api/events`"""
        call: Call[t.ListEventsReply] = Call(
            "GET",
            "/api/events",
            query={"after": after, "types": types, "devices": devices, "groups": groups, "limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    def list_webhooks(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Webhook]:
        """List webhooks: every row, page by page. `GET /api/webhooks`"""
        call: Call[Any] = Call(
            "GET",
            "/api/webhooks",
            query={"limit": page_size},
        )
        return self._rows(call, "webhooks")

    async def list_webhooks_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.WebhookPage:
        """List webhooks: one page. `GET /api/webhooks`"""
        call: Call[t.WebhookPage] = Call(
            "GET",
            "/api/webhooks",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_webhook(
        self,
        body: t.WebhookBody | t.WrappedWebhookBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewWebhookReply:
        """Create a webhook. `POST /api/webhooks`"""
        call: Call[t.NewWebhookReply] = Call(
            "POST",
            "/api/webhooks",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_webhook(
        self,
        webhook_id: str,
    ) -> t.WebhookReply:
        """Read a webhook. `GET /api/webhooks/{webhookId}`"""
        call: Call[t.WebhookReply] = Call(
            "GET",
            "/api/webhooks/{webhookId}",
            path={"webhookId": webhook_id},
        )
        return await self._call(call)

    async def replace_webhook(
        self,
        webhook_id: str,
        body: t.WebhookBody | t.WrappedWebhookBody | t.WebhookReply,
        *,
        if_match: str | None = None,
    ) -> t.WebhookReply:
        """Replace a webhook. `PUT /api/webhooks/{webhookId}`"""
        call: Call[t.WebhookReply] = Call(
            "PUT",
            "/api/webhooks/{webhookId}",
            path={"webhookId": webhook_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_webhook(
        self,
        webhook_id: str,
        body: t.PatchWebhookBody | t.WrappedPatchWebhookBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.WebhookReply:
        """Change a webhook. `PATCH /api/webhooks/{webhookId}`"""
        call: Call[t.WebhookReply] = Call(
            "PATCH",
            "/api/webhooks/{webhookId}",
            path={"webhookId": webhook_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_webhook(
        self,
        webhook_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a webhook. `DELETE /api/webhooks/{webhookId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/webhooks/{webhookId}",
            path={"webhookId": webhook_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def test_webhook(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.WebhookDeliveryReply:
        """Send a test event. `POST /api/webhooks/{webhookId}/test`"""
        call: Call[t.WebhookDeliveryReply] = Call(
            "POST",
            "/api/webhooks/{webhookId}/test",
            path={"webhookId": webhook_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def rotate_secret(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.RotateSecretReply:
        """Replace the secret. `POST /api/webhooks/{webhookId}/rotate`"""
        call: Call[t.RotateSecretReply] = Call(
            "POST",
            "/api/webhooks/{webhookId}/rotate",
            path={"webhookId": webhook_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.WebhookDelivery]:
        """List deliveries: every row, page by page. `GET /api/webhooks/{webhookId}/deliveries`"""
        call: Call[Any] = Call(
            "GET",
            "/api/webhooks/{webhookId}/deliveries",
            path={"webhookId": webhook_id},
            query={"limit": page_size},
        )
        return self._rows(call, "deliveries")

    async def list_deliveries_page(
        self,
        webhook_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.WebhookDeliveryPage:
        """List deliveries: one page. `GET /api/webhooks/{webhookId}/deliveries`"""
        call: Call[t.WebhookDeliveryPage] = Call(
            "GET",
            "/api/webhooks/{webhookId}/deliveries",
            path={"webhookId": webhook_id},
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def redeliver(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.WebhookDeliveryReply:
        """Repeat a delivery. `POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver`"""
        call: Call[t.WebhookDeliveryReply] = Call(
            "POST",
            "/api/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
            path={"webhookId": webhook_id, "deliveryId": delivery_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_groups(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
    ) -> AsyncIterator[t.Group]:
        """List groups: every row, page by page. `GET /api/groups`"""
        call: Call[Any] = Call(
            "GET",
            "/api/groups",
            query={"limit": page_size, "q": q},
        )
        return self._rows(call, "groups")

    async def list_groups_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
    ) -> t.GroupPage:
        """List groups: one page. `GET /api/groups`"""
        call: Call[t.GroupPage] = Call(
            "GET",
            "/api/groups",
            query={"limit": limit, "cursor": cursor, "q": q},
        )
        return await self._call(call)

    async def create_group(
        self,
        body: t.GroupBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.GroupReply:
        """Create a group. `POST /api/groups`"""
        call: Call[t.GroupReply] = Call(
            "POST",
            "/api/groups",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_group(
        self,
        group_id: str,
    ) -> t.GroupReply:
        """Read a group. `GET /api/groups/{groupId}`"""
        call: Call[t.GroupReply] = Call(
            "GET",
            "/api/groups/{groupId}",
            path={"groupId": group_id},
        )
        return await self._call(call)

    async def replace_group(
        self,
        group_id: str,
        body: t.GroupBody | t.GroupReply,
        *,
        if_match: str | None = None,
    ) -> t.GroupReply:
        """Replace a group. `PUT /api/groups/{groupId}`"""
        call: Call[t.GroupReply] = Call(
            "PUT",
            "/api/groups/{groupId}",
            path={"groupId": group_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_group(
        self,
        group_id: str,
        body: t.PatchGroupBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.GroupReply:
        """Change a group. `PATCH /api/groups/{groupId}`"""
        call: Call[t.GroupReply] = Call(
            "PATCH",
            "/api/groups/{groupId}",
            path={"groupId": group_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_group(
        self,
        group_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a group. `DELETE /api/groups/{groupId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/groups/{groupId}",
            path={"groupId": group_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def list_countries(
        self,
    ) -> t.ListCountriesReply:
        """List countries. `GET /api/users/countries`"""
        call: Call[t.ListCountriesReply] = Call(
            "GET",
            "/api/users/countries",
        )
        return await self._call(call)

    async def list_time_zones(
        self,
    ) -> t.ListTimeZonesReply:
        """List time zones. `GET /api/users/timeZones`"""
        call: Call[t.ListTimeZonesReply] = Call(
            "GET",
            "/api/users/timeZones",
        )
        return await self._call(call)

    def list_users(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
    ) -> AsyncIterator[t.User]:
        """List users: every row, page by page. `GET /api/users`"""
        call: Call[Any] = Call(
            "GET",
            "/api/users",
            query={"limit": page_size, "q": q},
        )
        return self._rows(call, "users")

    async def list_users_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
    ) -> t.UserPage:
        """List users: one page. `GET /api/users`"""
        call: Call[t.UserPage] = Call(
            "GET",
            "/api/users",
            query={"limit": limit, "cursor": cursor, "q": q},
        )
        return await self._call(call)

    async def create_user(
        self,
        body: t.UserBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.UserReply:
        """Create a user. `POST /api/users`"""
        call: Call[t.UserReply] = Call(
            "POST",
            "/api/users",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_user(
        self,
        user_id: str,
    ) -> t.UserReply:
        """Read a user. `GET /api/users/{userId}`"""
        call: Call[t.UserReply] = Call(
            "GET",
            "/api/users/{userId}",
            path={"userId": user_id},
        )
        return await self._call(call)

    async def replace_user(
        self,
        user_id: str,
        body: t.UserBody | t.UserReply,
        *,
        if_match: str | None = None,
    ) -> t.UserReply:
        """Replace a user. `PUT /api/users/{userId}`"""
        call: Call[t.UserReply] = Call(
            "PUT",
            "/api/users/{userId}",
            path={"userId": user_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_user(
        self,
        user_id: str,
        body: t.PatchUserBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.UserReply:
        """Change a user. `PATCH /api/users/{userId}`"""
        call: Call[t.UserReply] = Call(
            "PATCH",
            "/api/users/{userId}",
            path={"userId": user_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_user(
        self,
        user_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a user. `DELETE /api/users/{userId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/users/{userId}",
            path={"userId": user_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def invite_user(
        self,
        user_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.InviteUserReply:
        """Invite a user. `POST /api/users/{userId}/invite`"""
        call: Call[t.InviteUserReply] = Call(
            "POST",
            "/api/users/{userId}/invite",
            path={"userId": user_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_zones(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Zone]:
        """List zones: every row, page by page. `GET /api/zones`"""
        call: Call[Any] = Call(
            "GET",
            "/api/zones",
            query={"limit": page_size},
        )
        return self._rows(call, "zones")

    async def list_zones_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.ZonePage:
        """List zones: one page. `GET /api/zones`"""
        call: Call[t.ZonePage] = Call(
            "GET",
            "/api/zones",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_zone(
        self,
        body: t.ZoneBody | t.WrappedZoneBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.ZoneReply:
        """Create a zone. `POST /api/zones`"""
        call: Call[t.ZoneReply] = Call(
            "POST",
            "/api/zones",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_zone(
        self,
        zone_id: str,
    ) -> t.ZoneReply:
        """Read a zone. `GET /api/zones/{zoneId}`"""
        call: Call[t.ZoneReply] = Call(
            "GET",
            "/api/zones/{zoneId}",
            path={"zoneId": zone_id},
        )
        return await self._call(call)

    async def replace_zone(
        self,
        zone_id: str,
        body: t.ZoneBody | t.WrappedZoneBody | t.ZoneReply,
        *,
        if_match: str | None = None,
    ) -> t.ZoneReply:
        """Replace a zone. `PUT /api/zones/{zoneId}`"""
        call: Call[t.ZoneReply] = Call(
            "PUT",
            "/api/zones/{zoneId}",
            path={"zoneId": zone_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_zone(
        self,
        zone_id: str,
        body: t.PatchZoneBody | t.WrappedPatchZoneBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.ZoneReply:
        """Change a zone. `PATCH /api/zones/{zoneId}`"""
        call: Call[t.ZoneReply] = Call(
            "PATCH",
            "/api/zones/{zoneId}",
            path={"zoneId": zone_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_zone(
        self,
        zone_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a zone. `DELETE /api/zones/{zoneId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/zones/{zoneId}",
            path={"zoneId": zone_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def export_zones(
        self,
    ) -> t.ZoneCollection:
        """Export all zones as GeoJSON. `GET /api/zones.geojson`"""
        call: Call[t.ZoneCollection] = Call(
            "GET",
            "/api/zones.geojson",
        )
        return await self._call(call)

    async def import_zones(
        self,
        body: t.ZoneImport,
        *,
        idempotency_key: str | None = None,
    ) -> t.ImportedZones:
        """Import zones from GeoJSON. `POST /api/zones.geojson`"""
        call: Call[t.ImportedZones] = Call(
            "POST",
            "/api/zones.geojson",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def describe_place(
        self,
        *,
        latitude: float,
        longitude: float,
    ) -> t.DescribePlaceReply:
        """Describe a place in words. `GET /api/place`"""
        call: Call[t.DescribePlaceReply] = Call(
            "GET",
            "/api/place",
            query={"latitude": latitude, "longitude": longitude},
        )
        return await self._call(call)

    def list_rules(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Rule]:
        """List rules: every row, page by page. `GET /api/rules`"""
        call: Call[Any] = Call(
            "GET",
            "/api/rules",
            query={"limit": page_size},
        )
        return self._rows(call, "rules")

    async def list_rules_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.RulePage:
        """List rules: one page. `GET /api/rules`"""
        call: Call[t.RulePage] = Call(
            "GET",
            "/api/rules",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_rule(
        self,
        body: t.RuleBody | t.WrappedRuleBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.RuleReply:
        """Create a rule. `POST /api/rules`"""
        call: Call[t.RuleReply] = Call(
            "POST",
            "/api/rules",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_rule(
        self,
        rule_id: str,
    ) -> t.RuleReply:
        """Read a rule. `GET /api/rules/{ruleId}`"""
        call: Call[t.RuleReply] = Call(
            "GET",
            "/api/rules/{ruleId}",
            path={"ruleId": rule_id},
        )
        return await self._call(call)

    async def replace_rule(
        self,
        rule_id: str,
        body: t.RuleBody | t.WrappedRuleBody | t.RuleReply,
        *,
        if_match: str | None = None,
    ) -> t.RuleReply:
        """Replace a rule. `PUT /api/rules/{ruleId}`"""
        call: Call[t.RuleReply] = Call(
            "PUT",
            "/api/rules/{ruleId}",
            path={"ruleId": rule_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_rule(
        self,
        rule_id: str,
        body: t.PatchRuleBody | t.WrappedPatchRuleBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.RuleReply:
        """Change a rule. `PATCH /api/rules/{ruleId}`"""
        call: Call[t.RuleReply] = Call(
            "PATCH",
            "/api/rules/{ruleId}",
            path={"ruleId": rule_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_rule(
        self,
        rule_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a rule. `DELETE /api/rules/{ruleId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/rules/{ruleId}",
            path={"ruleId": rule_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def test_rule(
        self,
        rule_id: str,
        body: t.RuleTest,
    ) -> t.TestRuleReply:
        """Try a rule on history. `POST /api/rules/{ruleId}/test`"""
        call: Call[t.TestRuleReply] = Call(
            "POST",
            "/api/rules/{ruleId}/test",
            path={"ruleId": rule_id},
            body=body,
        )
        return await self._call(call)

    def list_watches(
        self,
        *,
        page_size: int | None = None,
        device_id: str | None = None,
        state: Literal["active", "overdue", "completed", "cancelled"] | None = None,
    ) -> AsyncIterator[t.Watch]:
        """List watches: every row, page by page. `GET /api/watches`"""
        call: Call[Any] = Call(
            "GET",
            "/api/watches",
            query={"limit": page_size, "deviceId": device_id, "state": state},
        )
        return self._rows(call, "watches")

    async def list_watches_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        device_id: str | None = None,
        state: Literal["active", "overdue", "completed", "cancelled"] | None = None,
    ) -> t.WatchPage:
        """List watches: one page. `GET /api/watches`"""
        call: Call[t.WatchPage] = Call(
            "GET",
            "/api/watches",
            query={"limit": limit, "cursor": cursor, "deviceId": device_id, "state": state},
        )
        return await self._call(call)

    async def create_watch(
        self,
        body: t.WatchBody | t.WrappedWatchBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewWatchReply:
        """Create a watch. `POST /api/watches`"""
        call: Call[t.NewWatchReply] = Call(
            "POST",
            "/api/watches",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_watch(
        self,
        watch_id: str,
    ) -> t.WatchReply:
        """Read a watch. `GET /api/watches/{watchId}`"""
        call: Call[t.WatchReply] = Call(
            "GET",
            "/api/watches/{watchId}",
            path={"watchId": watch_id},
        )
        return await self._call(call)

    async def replace_watch(
        self,
        watch_id: str,
        body: t.WatchBody | t.WrappedWatchBody | t.WatchReply,
        *,
        if_match: str | None = None,
    ) -> t.WatchReply:
        """Replace a watch. `PUT /api/watches/{watchId}`"""
        call: Call[t.WatchReply] = Call(
            "PUT",
            "/api/watches/{watchId}",
            path={"watchId": watch_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_watch(
        self,
        watch_id: str,
        body: t.PatchWatchBody | t.WrappedPatchWatchBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.WatchReply:
        """Change a watch. `PATCH /api/watches/{watchId}`"""
        call: Call[t.WatchReply] = Call(
            "PATCH",
            "/api/watches/{watchId}",
            path={"watchId": watch_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_watch(
        self,
        watch_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a watch. `DELETE /api/watches/{watchId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/watches/{watchId}",
            path={"watchId": watch_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def check_in_watch(
        self,
        watch_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.WatchReply:
        """Check in. `POST /api/watches/{watchId}/checkIn`"""
        call: Call[t.WatchReply] = Call(
            "POST",
            "/api/watches/{watchId}/checkIn",
            path={"watchId": watch_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def extend_watch(
        self,
        watch_id: str,
        body: t.WatchExtension,
        *,
        idempotency_key: str | None = None,
    ) -> t.WatchReply:
        """Move the deadline of a watch. `POST /api/watches/{watchId}/extend`"""
        call: Call[t.WatchReply] = Call(
            "POST",
            "/api/watches/{watchId}/extend",
            path={"watchId": watch_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def complete_watch(
        self,
        watch_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.WatchReply:
        """Complete a watch. `POST /api/watches/{watchId}/complete`"""
        call: Call[t.WatchReply] = Call(
            "POST",
            "/api/watches/{watchId}/complete",
            path={"watchId": watch_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def cancel_watch(
        self,
        watch_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.WatchReply:
        """Cancel a watch. `POST /api/watches/{watchId}/cancel`"""
        call: Call[t.WatchReply] = Call(
            "POST",
            "/api/watches/{watchId}/cancel",
            path={"watchId": watch_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def show_watch_link(
        self,
        watch_id: str,
    ) -> t.ShowWatchLinkReply:
        """Show the link of a watch. `POST /api/watches/{watchId}/link`"""
        call: Call[t.ShowWatchLinkReply] = Call(
            "POST",
            "/api/watches/{watchId}/link",
            path={"watchId": watch_id},
        )
        return await self._call(call)

    def list_shares(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Share]:
        """List shares: every row, page by page. `GET /api/shares`"""
        call: Call[Any] = Call(
            "GET",
            "/api/shares",
            query={"limit": page_size},
        )
        return self._rows(call, "shares")

    async def list_shares_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.SharePage:
        """List shares: one page. `GET /api/shares`"""
        call: Call[t.SharePage] = Call(
            "GET",
            "/api/shares",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_share(
        self,
        body: t.ShareBody | t.WrappedShareBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewShareReply:
        """Create a share. `POST /api/shares`"""
        call: Call[t.NewShareReply] = Call(
            "POST",
            "/api/shares",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_share(
        self,
        share_id: str,
    ) -> t.ShareReply:
        """Read a share. `GET /api/shares/{shareId}`"""
        call: Call[t.ShareReply] = Call(
            "GET",
            "/api/shares/{shareId}",
            path={"shareId": share_id},
        )
        return await self._call(call)

    async def replace_share(
        self,
        share_id: str,
        body: t.ShareBody | t.WrappedShareBody | t.ShareReply,
        *,
        if_match: str | None = None,
    ) -> t.ShareReply:
        """Replace a share. `PUT /api/shares/{shareId}`"""
        call: Call[t.ShareReply] = Call(
            "PUT",
            "/api/shares/{shareId}",
            path={"shareId": share_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_share(
        self,
        share_id: str,
        body: t.PatchShareBody | t.WrappedPatchShareBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.ShareReply:
        """Change a share. `PATCH /api/shares/{shareId}`"""
        call: Call[t.ShareReply] = Call(
            "PATCH",
            "/api/shares/{shareId}",
            path={"shareId": share_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_share(
        self,
        share_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a share. `DELETE /api/shares/{shareId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/shares/{shareId}",
            path={"shareId": share_id},
            if_match=if_match,
        )
        return await self._call(call)

    def list_device_alerts(
        self,
        device_id: str,
        *,
        page_size: int | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        alert_name: str | None = None,
        acknowledged: bool | None = None,
        emergency: bool | None = None,
        state: Literal["open", "acknowledged", "resolved", "cancelled"] | None = None,
        sort: Literal["dateTime", "-dateTime"] | None = None,
    ) -> AsyncIterator[t.Alert]:
        """List a device’s alerts: every row, page by page. `GET /api/devices/{deviceId}/alerts`"""
        call: Call[Any] = Call(
            "GET",
            "/api/devices/{deviceId}/alerts",
            path={"deviceId": device_id},
            query={"limit": page_size, "from": from_, "to": to, "alertName": alert_name, "acknowledged": acknowledged, "emergency": emergency, "state": state, "sort": sort},
        )
        return self._rows(call, "alerts")

    async def list_device_alerts_page(
        self,
        device_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        alert_name: str | None = None,
        acknowledged: bool | None = None,
        emergency: bool | None = None,
        state: Literal["open", "acknowledged", "resolved", "cancelled"] | None = None,
        sort: Literal["dateTime", "-dateTime"] | None = None,
    ) -> t.AlertPage:
        """List a device’s alerts: one page. `GET /api/devices/{deviceId}/alerts`"""
        call: Call[t.AlertPage] = Call(
            "GET",
            "/api/devices/{deviceId}/alerts",
            path={"deviceId": device_id},
            query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "alertName": alert_name, "acknowledged": acknowledged, "emergency": emergency, "state": state, "sort": sort},
        )
        return await self._call(call)

    async def post_alerts(
        self,
        device_id: str,
        body: t.PostAlertsBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.AlertPage | t.PostAlertsReply:
        """Raise an alert, or query a device’s alerts. `POST /api/devices/{deviceId}/alerts`"""
        call: Call[t.AlertPage | t.PostAlertsReply] = Call(
            "POST",
            "/api/devices/{deviceId}/alerts",
            path={"deviceId": device_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def list_trips(
        self,
        device_id: str,
        *,
        from_: t.Time,
        to: t.Time,
    ) -> t.TripReply:
        """List a device’s trips. `GET /api/devices/{deviceId}/trips`"""
        call: Call[t.TripReply] = Call(
            "GET",
            "/api/devices/{deviceId}/trips",
            path={"deviceId": device_id},
            query={"from": from_, "to": to},
        )
        return await self._call(call)

    async def list_stops(
        self,
        device_id: str,
        *,
        from_: t.Time,
        to: t.Time,
    ) -> t.StopReply:
        """List a device’s stops. `GET /api/devices/{deviceId}/stops`"""
        call: Call[t.StopReply] = Call(
            "GET",
            "/api/devices/{deviceId}/stops",
            path={"deviceId": device_id},
            query={"from": from_, "to": to},
        )
        return await self._call(call)

    async def read_summary(
        self,
        device_id: str,
        *,
        from_: t.Time,
        to: t.Time,
    ) -> t.DaySummaryReply:
        """Read a device’s days. `GET /api/devices/{deviceId}/summary`"""
        call: Call[t.DaySummaryReply] = Call(
            "GET",
            "/api/devices/{deviceId}/summary",
            path={"deviceId": device_id},
            query={"from": from_, "to": to},
        )
        return await self._call(call)

    def list_alerts(
        self,
        *,
        page_size: int | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        alert_name: str | None = None,
        acknowledged: bool | None = None,
        emergency: bool | None = None,
        state: Literal["open", "acknowledged", "resolved", "cancelled"] | None = None,
        sort: Literal["dateTime", "-dateTime"] | None = None,
    ) -> AsyncIterator[t.Alert]:
        """List the account’s alerts: every row, page by page. `GET /api/alerts`"""
        call: Call[Any] = Call(
            "GET",
            "/api/alerts",
            query={"limit": page_size, "from": from_, "to": to, "alertName": alert_name, "acknowledged": acknowledged, "emergency": emergency, "state": state, "sort": sort},
        )
        return self._rows(call, "alerts")

    async def list_alerts_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        alert_name: str | None = None,
        acknowledged: bool | None = None,
        emergency: bool | None = None,
        state: Literal["open", "acknowledged", "resolved", "cancelled"] | None = None,
        sort: Literal["dateTime", "-dateTime"] | None = None,
    ) -> t.AlertPage:
        """List the account’s alerts: one page. `GET /api/alerts`"""
        call: Call[t.AlertPage] = Call(
            "GET",
            "/api/alerts",
            query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "alertName": alert_name, "acknowledged": acknowledged, "emergency": emergency, "state": state, "sort": sort},
        )
        return await self._call(call)

    async def read_alert(
        self,
        alert_id: str,
    ) -> t.AlertReply:
        """Read an alert. `GET /api/alerts/{alertId}`"""
        call: Call[t.AlertReply] = Call(
            "GET",
            "/api/alerts/{alertId}",
            path={"alertId": alert_id},
        )
        return await self._call(call)

    async def acknowledge_alert(
        self,
        alert_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.AlertReply:
        """Acknowledge an alert. `POST /api/alerts/{alertId}/acknowledge`"""
        call: Call[t.AlertReply] = Call(
            "POST",
            "/api/alerts/{alertId}/acknowledge",
            path={"alertId": alert_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def resolve_alert(
        self,
        alert_id: str,
        body: t.ResolveAlertBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.AlertReply:
        """Resolve an alert. `POST /api/alerts/{alertId}/resolve`"""
        call: Call[t.AlertReply] = Call(
            "POST",
            "/api/alerts/{alertId}/resolve",
            path={"alertId": alert_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def cancel_alert(
        self,
        alert_id: str,
        body: t.ResolveAlertBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.AlertReply:
        """Cancel an alert. `POST /api/alerts/{alertId}/cancel`"""
        call: Call[t.AlertReply] = Call(
            "POST",
            "/api/alerts/{alertId}/cancel",
            path={"alertId": alert_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def reopen_alert(
        self,
        alert_id: str,
        body: t.ResolveAlertBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.AlertReply:
        """Reopen an alert. `POST /api/alerts/{alertId}/reopen`"""
        call: Call[t.AlertReply] = Call(
            "POST",
            "/api/alerts/{alertId}/reopen",
            path={"alertId": alert_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def note_alert(
        self,
        alert_id: str,
        body: t.NoteAlertBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.AlertReply:
        """Add a note to an alert. `POST /api/alerts/{alertId}/notes`"""
        call: Call[t.AlertReply] = Call(
            "POST",
            "/api/alerts/{alertId}/notes",
            path={"alertId": alert_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_unclaimed(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.UnclaimedIdentifier]:
        """List unclaimed identifiers: every row, page by page. `GET /api/sources/{sourceId}/unclaimed`"""
        call: Call[Any] = Call(
            "GET",
            "/api/sources/{sourceId}/unclaimed",
            path={"sourceId": source_id},
            query={"limit": page_size},
        )
        return self._rows(call, "unclaimed")

    async def list_unclaimed_page(
        self,
        source_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.ListUnclaimedReply:
        """List unclaimed identifiers: one page. `GET /api/sources/{sourceId}/unclaimed`"""
        call: Call[t.ListUnclaimedReply] = Call(
            "GET",
            "/api/sources/{sourceId}/unclaimed",
            path={"sourceId": source_id},
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def claim_identifier(
        self,
        source_id: str,
        identifier: str,
        body: t.ClaimIdentifierBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.ClaimIdentifierReply:
        """Claim an identifier. `POST /api/sources/{sourceId}/unclaimed/{identifier}/claim`"""
        call: Call[t.ClaimIdentifierReply] = Call(
            "POST",
            "/api/sources/{sourceId}/unclaimed/{identifier}/claim",
            path={"sourceId": source_id, "identifier": identifier},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def discard_identifier(
        self,
        source_id: str,
        identifier: str,
    ) -> t.Done:
        """Discard an unclaimed identifier. `DELETE /api/sources/{sourceId}/unclaimed/{identifier}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/sources/{sourceId}/unclaimed/{identifier}",
            path={"sourceId": source_id, "identifier": identifier},
        )
        return await self._call(call)

    def list_failures(
        self,
        source_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.FailedPayload]:
        """List failed payloads: every row, page by page. `GET /api/sources/{sourceId}/failures`"""
        call: Call[Any] = Call(
            "GET",
            "/api/sources/{sourceId}/failures",
            path={"sourceId": source_id},
            query={"limit": page_size},
        )
        return self._rows(call, "failures")

    async def list_failures_page(
        self,
        source_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.ListFailuresReply:
        """List failed payloads: one page. `GET /api/sources/{sourceId}/failures`"""
        call: Call[t.ListFailuresReply] = Call(
            "GET",
            "/api/sources/{sourceId}/failures",
            path={"sourceId": source_id},
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def read_raw_payload(
        self,
        source_id: str,
        payload_id: str,
    ) -> t.ReadRawPayloadReply:
        """Read a failed payload. `GET /api/sources/{sourceId}/failures/{payloadId}/raw`"""
        call: Call[t.ReadRawPayloadReply] = Call(
            "GET",
            "/api/sources/{sourceId}/failures/{payloadId}/raw",
            path={"sourceId": source_id, "payloadId": payload_id},
        )
        return await self._call(call)

    async def replay_payloads(
        self,
        source_id: str,
        body: t.ReplayPayloadsBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.ReplayPayloadsReply:
        """Decode stored payloads again. `POST /api/sources/{sourceId}/replay`"""
        call: Call[t.ReplayPayloadsReply] = Call(
            "POST",
            "/api/sources/{sourceId}/replay",
            path={"sourceId": source_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_sources(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Source]:
        """List sources: every row, page by page. `GET /api/sources`"""
        call: Call[Any] = Call(
            "GET",
            "/api/sources",
            query={"limit": page_size},
        )
        return self._rows(call, "sources")

    async def list_sources_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.SourcePage:
        """List sources: one page. `GET /api/sources`"""
        call: Call[t.SourcePage] = Call(
            "GET",
            "/api/sources",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_source(
        self,
        body: t.SourceBody | t.WrappedSourceBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewSourceReply:
        """Create a source. `POST /api/sources`"""
        call: Call[t.NewSourceReply] = Call(
            "POST",
            "/api/sources",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_source(
        self,
        source_id: str,
    ) -> t.SourceReply:
        """Read a source. `GET /api/sources/{sourceId}`"""
        call: Call[t.SourceReply] = Call(
            "GET",
            "/api/sources/{sourceId}",
            path={"sourceId": source_id},
        )
        return await self._call(call)

    async def replace_source(
        self,
        source_id: str,
        body: t.SourceBody | t.WrappedSourceBody | t.SourceReply,
        *,
        if_match: str | None = None,
    ) -> t.SourceReply:
        """Replace a source. `PUT /api/sources/{sourceId}`"""
        call: Call[t.SourceReply] = Call(
            "PUT",
            "/api/sources/{sourceId}",
            path={"sourceId": source_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def patch_source(
        self,
        source_id: str,
        body: t.PatchSourceBody | t.WrappedPatchSourceBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.SourceReply:
        """Change a source. `PATCH /api/sources/{sourceId}`"""
        call: Call[t.SourceReply] = Call(
            "PATCH",
            "/api/sources/{sourceId}",
            path={"sourceId": source_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_source(
        self,
        source_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete a source. `DELETE /api/sources/{sourceId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/api/sources/{sourceId}",
            path={"sourceId": source_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def decode_payload(
        self,
        body: t.PastedPush,
    ) -> t.DecodePayloadReply:
        """Show what a payload would become. `POST /api/sources/decode`"""
        call: Call[t.DecodePayloadReply] = Call(
            "POST",
            "/api/sources/decode",
            body=body,
        )
        return await self._call(call)

    async def rotate_source(
        self,
        source_id: str,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewSourceReply:
        """Replace the address of a source. `POST /api/sources/{sourceId}/rotate`"""
        call: Call[t.NewSourceReply] = Call(
            "POST",
            "/api/sources/{sourceId}/rotate",
            path={"sourceId": source_id},
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    def list_quarantine(
        self,
        device_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.QuarantinedLocation]:
        """List a device’s quarantine: every row, page by page. `GET /api/devices/{deviceId}/quarantine`"""
        call: Call[Any] = Call(
            "GET",
            "/api/devices/{deviceId}/quarantine",
            path={"deviceId": device_id},
            query={"limit": page_size},
        )
        return self._rows(call, "quarantine")

    async def list_quarantine_page(
        self,
        device_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.ListQuarantineReply:
        """List a device’s quarantine: one page. `GET /api/devices/{deviceId}/quarantine`"""
        call: Call[t.ListQuarantineReply] = Call(
            "GET",
            "/api/devices/{deviceId}/quarantine",
            path={"deviceId": device_id},
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def release_quarantine(
        self,
        device_id: str,
        body: t.ReleaseQuarantineBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.ReleaseQuarantineReply:
        """Release locations from quarantine. `POST /api/devices/{deviceId}/quarantine/release`"""
        call: Call[t.ReleaseQuarantineReply] = Call(
            "POST",
            "/api/devices/{deviceId}/quarantine/release",
            path={"deviceId": device_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def discard_quarantine(
        self,
        device_id: str,
        body: t.DiscardQuarantineBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.DiscardQuarantineReply:
        """Discard locations in quarantine. `POST /api/devices/{deviceId}/quarantine/discard`"""
        call: Call[t.DiscardQuarantineReply] = Call(
            "POST",
            "/api/devices/{deviceId}/quarantine/discard",
            path={"deviceId": device_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def send_command(
        self,
        device_id: str,
        body: t.SendCommandBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.SendCommandReply:
        """Send a command to a device. `POST /api/devices/{deviceId}/sendCommand`"""
        call: Call[t.SendCommandReply] = Call(
            "POST",
            "/api/devices/{deviceId}/sendCommand",
            path={"deviceId": device_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_command_channel(
        self,
        device_id: str,
    ) -> t.ReadCommandChannelReply:
        """Read which source takes a device’s commands. `GET /api/devices/{deviceId}/commandChannel`"""
        call: Call[t.ReadCommandChannelReply] = Call(
            "GET",
            "/api/devices/{deviceId}/commandChannel",
            path={"deviceId": device_id},
        )
        return await self._call(call)

    async def set_command_channel(
        self,
        device_id: str,
        body: t.SetCommandChannelBody | t.ReadCommandChannelReply,
    ) -> t.SetCommandChannelReply:
        """Choose the source that takes a device’s commands. `PUT /api/devices/{deviceId}/commandChannel`"""
        call: Call[t.SetCommandChannelReply] = Call(
            "PUT",
            "/api/devices/{deviceId}/commandChannel",
            path={"deviceId": device_id},
            body=body,
        )
        return await self._call(call)

    def list_commands(
        self,
        device_id: str,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Command]:
        """List commands and messages: every row, page by page. `GET /api/devices/{deviceId}/commands`"""
        call: Call[Any] = Call(
            "GET",
            "/api/devices/{deviceId}/commands",
            path={"deviceId": device_id},
            query={"limit": page_size},
        )
        return self._rows(call, "commands")

    async def list_commands_page(
        self,
        device_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.CommandPage:
        """List commands and messages: one page. `GET /api/devices/{deviceId}/commands`"""
        call: Call[t.CommandPage] = Call(
            "GET",
            "/api/devices/{deviceId}/commands",
            path={"deviceId": device_id},
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def read_command(
        self,
        device_id: str,
        command_id: str,
    ) -> t.CommandReply:
        """Read a command. `GET /api/devices/{deviceId}/commands/{commandId}`"""
        call: Call[t.CommandReply] = Call(
            "GET",
            "/api/devices/{deviceId}/commands/{commandId}",
            path={"deviceId": device_id, "commandId": command_id},
        )
        return await self._call(call)

    def list_all_audit(
        self,
        *,
        page_size: int | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        actor: str | None = None,
        action: str | None = None,
        resource: str | None = None,
        account: str | None = None,
    ) -> AsyncIterator[t.AuditEntry]:
        """Read who did what in all accounts: every row, page by page. `GET /admin/audit`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/audit",
            query={"limit": page_size, "from": from_, "to": to, "actor": actor, "action": action, "resource": resource, "account": account},
        )
        return self._rows(call, "entries")

    async def list_all_audit_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        from_: t.Time | None = None,
        to: t.Time | None = None,
        actor: str | None = None,
        action: str | None = None,
        resource: str | None = None,
        account: str | None = None,
    ) -> t.AuditEntryPage:
        """Read who did what in all accounts: one page. `GET /admin/audit`"""
        call: Call[t.AuditEntryPage] = Call(
            "GET",
            "/admin/audit",
            query={"limit": limit, "cursor": cursor, "from": from_, "to": to, "actor": actor, "action": action, "resource": resource, "account": account},
        )
        return await self._call(call)

    async def read_self(
        self,
    ) -> t.CurrentOperatorReply:
        """Read who you are. `GET /admin/me`"""
        call: Call[t.CurrentOperatorReply] = Call(
            "GET",
            "/admin/me",
        )
        return await self._call(call)

    def list_operators(
        self,
        *,
        page_size: int | None = None,
    ) -> AsyncIterator[t.Operator]:
        """List operators: every row, page by page. `GET /admin/operators`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/operators",
            query={"limit": page_size},
        )
        return self._rows(call, "operators")

    async def list_operators_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> t.OperatorPage:
        """List operators: one page. `GET /admin/operators`"""
        call: Call[t.OperatorPage] = Call(
            "GET",
            "/admin/operators",
            query={"limit": limit, "cursor": cursor},
        )
        return await self._call(call)

    async def create_operator(
        self,
        body: t.CreateOperatorBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.CreateOperatorReply:
        """Create an operator. `POST /admin/operators`"""
        call: Call[t.CreateOperatorReply] = Call(
            "POST",
            "/admin/operators",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_operator(
        self,
        operator_id: str,
    ) -> t.OperatorReply:
        """Read an operator. `GET /admin/operators/{operatorId}`"""
        call: Call[t.OperatorReply] = Call(
            "GET",
            "/admin/operators/{operatorId}",
            path={"operatorId": operator_id},
        )
        return await self._call(call)

    async def patch_operator(
        self,
        operator_id: str,
        body: t.PatchOperatorBody | t.WrappedPatchOperatorBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.OperatorReply:
        """Change an operator. `PATCH /admin/operators/{operatorId}`"""
        call: Call[t.OperatorReply] = Call(
            "PATCH",
            "/admin/operators/{operatorId}",
            path={"operatorId": operator_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_operator(
        self,
        operator_id: str,
        *,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete an operator. `DELETE /admin/operators/{operatorId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/admin/operators/{operatorId}",
            path={"operatorId": operator_id},
            if_match=if_match,
        )
        return await self._call(call)

    async def regenerate_operator_key(
        self,
        operator_id: str,
        body: t.RegenerateOperatorKeyBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.CreateOperatorReply:
        """Replace the key of an operator. `POST /admin/operators/{operatorId}/regenerate`"""
        call: Call[t.CreateOperatorReply] = Call(
            "POST",
            "/admin/operators/{operatorId}/regenerate",
            path={"operatorId": operator_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_operator_health(
        self,
    ) -> t.ReadOperatorHealthReply:
        """Check every part of the service. `GET /admin/health`"""
        call: Call[t.ReadOperatorHealthReply] = Call(
            "GET",
            "/admin/health",
        )
        return await self._call(call)

    async def read_metrics(
        self,
    ) -> t.ReadMetricsReply:
        """Read the figures of the service. `GET /admin/metrics`"""
        call: Call[t.ReadMetricsReply] = Call(
            "GET",
            "/admin/metrics",
        )
        return await self._call(call)

    def download_metrics(
        self,
        *,
        format: Literal["prometheus", "json"],
    ) -> AsyncIterator[bytes]:
        """Read the figures of the service, as a file. `GET /admin/metrics`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/metrics",
            query={"format": format},
            accept="*/*",
        )
        return self._bytes(call)

    async def start_support(
        self,
        account_id: str,
        body: t.StartSupportBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.StartSupportReply:
        """Get access to an account. `POST /admin/accounts/{accountId}/support`"""
        call: Call[t.StartSupportReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/support",
            path={"accountId": account_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def end_support(
        self,
        account_id: str,
        key_id: str,
    ) -> t.Done:
        """End the access to an account. `DELETE /admin/accounts/{accountId}/support/{keyId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/admin/accounts/{accountId}/support/{keyId}",
            path={"accountId": account_id, "keyId": key_id},
        )
        return await self._call(call)

    def list_usage(
        self,
        *,
        page_size: int | None = None,
        month: str,
    ) -> AsyncIterator[t.ListUsageReplyAccount]:
        """Read what all accounts have used in a month: every row, page by page. `GET /admin/usage`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/usage",
            query={"limit": page_size, "month": month},
        )
        return self._rows(call, "accounts")

    async def list_usage_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        month: str,
    ) -> t.ListUsageReply:
        """Read what all accounts have used in a month: one page. `GET /admin/usage`"""
        call: Call[t.ListUsageReply] = Call(
            "GET",
            "/admin/usage",
            query={"limit": limit, "cursor": cursor, "month": month},
        )
        return await self._call(call)

    def download_usage(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        month: str,
        format: Literal["json", "csv", "stripe", "lago"],
    ) -> AsyncIterator[bytes]:
        """Read what all accounts have used in a month, as a file. `GET /admin/usage`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/usage",
            query={"limit": limit, "cursor": cursor, "month": month, "format": format},
            accept="*/*",
        )
        return self._bytes(call)

    async def read_operated_usage(
        self,
        account_id: str,
        *,
        from_: t.Date | None = None,
        to: t.Date | None = None,
    ) -> t.ReadOperatedUsageReply:
        """Read what an account has used. `GET /admin/accounts/{accountId}/usage`"""
        call: Call[t.ReadOperatedUsageReply] = Call(
            "GET",
            "/admin/accounts/{accountId}/usage",
            path={"accountId": account_id},
            query={"from": from_, "to": to},
        )
        return await self._call(call)

    def download_operated_usage(
        self,
        account_id: str,
        *,
        from_: t.Date | None = None,
        to: t.Date | None = None,
        format: Literal["json", "csv"],
    ) -> AsyncIterator[bytes]:
        """Read what an account has used, as a file. `GET /admin/accounts/{accountId}/usage`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/accounts/{accountId}/usage",
            path={"accountId": account_id},
            query={"from": from_, "to": to, "format": format},
            accept="*/*",
        )
        return self._bytes(call)

    async def import_account(
        self,
        body: bytes,
        *,
        user_name: str | None = None,
        cell: int | None = None,
        session: str | None = None,
        more: bool | None = None,
    ) -> t.ImportProgress | t.ImportAccountReply:
        """Import an account. `POST /admin/accounts/import`"""
        call: Call[t.ImportProgress | t.ImportAccountReply] = Call(
            "POST",
            "/admin/accounts/import",
            query={"userName": user_name, "cell": cell, "session": session, "more": more},
            body=body,
            content_type="application/gzip",
        )
        return await self._call(call)

    def export_operated_account(
        self,
        account_id: str,
        *,
        from_: t.Time | None = None,
        to: t.Time | None = None,
    ) -> AsyncIterator[bytes]:
        """Export an account. `POST /admin/accounts/{accountId}/export`"""
        call: Call[Any] = Call(
            "POST",
            "/admin/accounts/{accountId}/export",
            path={"accountId": account_id},
            query={"from": from_, "to": to},
            accept="application/gzip",
        )
        return self._bytes(call)

    def list_accounts(
        self,
        *,
        page_size: int | None = None,
        q: str | None = None,
        user_name: str | None = None,
        state: Literal["active", "notice", "readOnly", "ingestOnly", "disabled", "deleted"] | None = None,
        cell: int | None = None,
    ) -> AsyncIterator[t.OperatedAccount]:
        """List accounts: every row, page by page. `GET /admin/accounts`"""
        call: Call[Any] = Call(
            "GET",
            "/admin/accounts",
            query={"limit": page_size, "q": q, "userName": user_name, "state": state, "cell": cell},
        )
        return self._rows(call, "accounts")

    async def list_accounts_page(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        q: str | None = None,
        user_name: str | None = None,
        state: Literal["active", "notice", "readOnly", "ingestOnly", "disabled", "deleted"] | None = None,
        cell: int | None = None,
    ) -> t.OperatedAccountPage:
        """List accounts: one page. `GET /admin/accounts`"""
        call: Call[t.OperatedAccountPage] = Call(
            "GET",
            "/admin/accounts",
            query={"limit": limit, "cursor": cursor, "q": q, "userName": user_name, "state": state, "cell": cell},
        )
        return await self._call(call)

    async def create_account(
        self,
        body: t.CreateAccountBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.CreateAccountReply:
        """Open an account. `POST /admin/accounts`"""
        call: Call[t.CreateAccountReply] = Call(
            "POST",
            "/admin/accounts",
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_operated_account(
        self,
        account_id: str,
    ) -> t.OperatedAccountReply:
        """Read an account. `GET /admin/accounts/{accountId}`"""
        call: Call[t.OperatedAccountReply] = Call(
            "GET",
            "/admin/accounts/{accountId}",
            path={"accountId": account_id},
        )
        return await self._call(call)

    async def patch_operated_account(
        self,
        account_id: str,
        body: t.PatchOperatedAccountBody | t.WrappedPatchOperatedAccountBody | t.JsonPatch,
        *,
        if_match: str | None = None,
    ) -> t.OperatedAccountReply:
        """Change an account. `PATCH /admin/accounts/{accountId}`"""
        call: Call[t.OperatedAccountReply] = Call(
            "PATCH",
            "/admin/accounts/{accountId}",
            path={"accountId": account_id},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def delete_account(
        self,
        account_id: str,
        body: t.DeleteAccountBody | None = None,
        *,
        now: bool | None = None,
        if_match: str | None = None,
    ) -> t.Done:
        """Delete an account. `DELETE /admin/accounts/{accountId}`"""
        call: Call[t.Done] = Call(
            "DELETE",
            "/admin/accounts/{accountId}",
            path={"accountId": account_id},
            query={"now": now},
            body=body,
            if_match=if_match,
        )
        return await self._call(call)

    async def undelete_account(
        self,
        account_id: str,
    ) -> t.OperatedAccountReply:
        """Bring a deleted account back. `POST /admin/accounts/{accountId}/undelete`"""
        call: Call[t.OperatedAccountReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/undelete",
            path={"accountId": account_id},
        )
        return await self._call(call)

    async def keep_account(
        self,
        account_id: str,
    ) -> t.OperatedAccountReply:
        """Keep a sandbox. `POST /admin/accounts/{accountId}/keep`"""
        call: Call[t.OperatedAccountReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/keep",
            path={"accountId": account_id},
        )
        return await self._call(call)

    async def create_account_key(
        self,
        account_id: str,
        body: t.CreateAccountKeyBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.NewKeyReply:
        """Create an API key for an account. `POST /admin/accounts/{accountId}/keys`"""
        call: Call[t.NewKeyReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/keys",
            path={"accountId": account_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def restore_ledger(
        self,
        account_id: str,
        body: t.RestoreLedgerBody,
        *,
        idempotency_key: str | None = None,
    ) -> t.RestoreLedgerReply:
        """Restore an account’s ledger. `POST /admin/accounts/{accountId}/restore`"""
        call: Call[t.RestoreLedgerReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/restore",
            path={"accountId": account_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def reconcile_account(
        self,
        account_id: str,
        body: t.ReconcileAccountBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.ReconcileAccountReply:
        """Reconcile an account with its ledger. `POST /admin/accounts/{accountId}/reconcile`"""
        call: Call[t.ReconcileAccountReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/reconcile",
            path={"accountId": account_id},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def reconcile_cell(
        self,
        cell: str,
        body: t.ReconcileAccountBody | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> t.ReconcileCellReply:
        """Reconcile a database with its ledgers. `POST /admin/cells/{cell}/reconcile`"""
        call: Call[t.ReconcileCellReply] = Call(
            "POST",
            "/admin/cells/{cell}/reconcile",
            path={"cell": cell},
            body=body,
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)

    async def read_move(
        self,
        account_id: str,
    ) -> t.MoveAccountReply:
        """Read the move of an account. `GET /admin/accounts/{accountId}/move`"""
        call: Call[t.MoveAccountReply] = Call(
            "GET",
            "/admin/accounts/{accountId}/move",
            path={"accountId": account_id},
        )
        return await self._call(call)

    async def move_account(
        self,
        account_id: str,
        body: t.MoveAccountBody,
    ) -> t.MoveAccountReply:
        """Move an account to another cell. `POST /admin/accounts/{accountId}/move`"""
        call: Call[t.MoveAccountReply] = Call(
            "POST",
            "/admin/accounts/{accountId}/move",
            path={"accountId": account_id},
            body=body,
        )
        return await self._call(call)

    async def cancel_move(
        self,
        account_id: str,
    ) -> t.MoveAccountReply:
        """Cancel the move of an account. `DELETE /admin/accounts/{accountId}/move`"""
        call: Call[t.MoveAccountReply] = Call(
            "DELETE",
            "/admin/accounts/{accountId}/move",
            path={"accountId": account_id},
        )
        return await self._call(call)

    async def rotate_push_key(
        self,
        *,
        idempotency_key: str | None = None,
    ) -> t.RotatePushKeyReply:
        """Replace the key that browsers subscribe with. `POST /admin/push/rotateKey`"""
        call: Call[t.RotatePushKeyReply] = Call(
            "POST",
            "/admin/push/rotateKey",
            takes_key=True,
            key=idempotency_key,
        )
        return await self._call(call)
