# Written by `npm run openapi` from public/api/openapi.json. Do not edit.
from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, Union

from typing_extensions import NotRequired, TypeAlias, TypedDict

# A `datetime` needs a time zone.
Time: TypeAlias = Union[str, datetime]
Date: TypeAlias = Union[str, date]


class GetTokenBody(TypedDict):
    userName: str
    apiKey: str


class SignInBody(TypedDict):
    account: str
    email: str
    password: str


class SignOutBody(TypedDict):
    everywhere: NotRequired[bool | None]


class RequestResetBody(TypedDict):
    account: str
    email: str


class SetPasswordBody(TypedDict):
    link: str
    password: str


class DecideConsentBody(TypedDict):
    query: str
    scopes: list[Scope]


class PushSubscriptionBody(TypedDict):
    endpoint: str
    expirationTime: NotRequired[float | None]
    keys: PushSubscriptionBodyKeys


class CreateKeyBody(TypedDict):
    name: str
    scopes: list[Scope]
    userId: NotRequired[str | None]
    expires: NotRequired[Time | None]
    version: NotRequired[CreateKeyBodyVersion | None]


class RegenerateKeyBody(TypedDict):
    overlapSeconds: NotRequired[int | None]
    version: NotRequired[CreateKeyBodyVersion | None]


class OpenSandboxBody(TypedDict):
    name: NotRequired[str | None]


class PatchAccountBody(TypedDict):
    name: NotRequired[str]
    timeZone: NotRequired[str]
    retentionDays: NotRequired[int]
    supportMayWrite: NotRequired[bool | None]
    emergencyAlerts: NotRequired[list[str] | None]
    emergencyContacts: NotRequired[list[NewEmergencyContact] | None]
    escalation: NotRequired[NewEscalation | None]
    dailyNoticeLimit: NotRequired[NewDailyNoticeLimit | None]


class WrappedPatchAccountBody(TypedDict):
    account: PatchAccountBody


class DeviceBody(TypedDict):
    name: str
    description: NotRequired[str | None]
    min: NotRequired[str | None]
    identifier: NotRequired[str | None]
    model: NotRequired[str | None]
    tags: NotRequired[NewTags | None]
    limits: NotRequired[NewDeviceLimits | None]
    maxSpeed: NotRequired[float | None]


class WrappedDeviceBody(TypedDict):
    device: DeviceBody


class PatchDeviceBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str | None]
    min: NotRequired[str | None]
    identifier: NotRequired[str | None]
    model: NotRequired[str | None]
    tags: NotRequired[NewTags | None]
    limits: NotRequired[PatchDeviceBodyLimits | None]
    maxSpeed: NotRequired[float | None]


class WrappedPatchDeviceBody(TypedDict):
    device: PatchDeviceBody


class ReactivateDeviceBody(TypedDict):
    expirationDate: NotRequired[Date | None]


class NewLocation(TypedDict):
    dateTime: Time
    latitude: float
    longitude: float
    altitude: NotRequired[float | None]
    speed: NotRequired[float | None]
    course: NotRequired[float | None]
    accuracy: NotRequired[float | None]
    battery: NotRequired[float | None]
    fuel: NotRequired[float | None]
    fuel2: NotRequired[float | None]
    temperature: NotRequired[float | None]
    temperature2: NotRequired[float | None]
    inactiveSeconds: NotRequired[float | None]
    rpm: NotRequired[float | None]
    milleage: NotRequired[float | None]
    sensorTime1: NotRequired[float | Time | None]
    sensorTime2: NotRequired[float | Time | None]
    sensorTime3: NotRequired[float | Time | None]
    sensorTime4: NotRequired[float | Time | None]
    warningTexts: NotRequired[list[str] | None]
    alertTexts: NotRequired[list[str] | None]
    alerts: NotRequired[list[str | float] | None]
    warnings: NotRequired[list[str | float] | None]
    hasCriticalAlert: NotRequired[bool | None]
    attributes: NotRequired[Attributes | None]
    accessoriesAttributes: NotRequired[list[Any] | None]
    inputs: NotRequired[list[Any] | None]
    outputs: NotRequired[list[Any] | None]
    source: NotRequired[str | None]
    receivedAt: NotRequired[Any]


class ReportLocationsBody(TypedDict):
    locations: list[AddressedLocation]


class AddressedLocation(TypedDict):
    deviceId: NotRequired[str | None]
    identifier: NotRequired[str | None]
    dateTime: Time
    latitude: float
    longitude: float
    altitude: NotRequired[float | None]
    speed: NotRequired[float | None]
    course: NotRequired[float | None]
    accuracy: NotRequired[float | None]
    battery: NotRequired[float | None]
    fuel: NotRequired[float | None]
    fuel2: NotRequired[float | None]
    temperature: NotRequired[float | None]
    temperature2: NotRequired[float | None]
    inactiveSeconds: NotRequired[float | None]
    rpm: NotRequired[float | None]
    milleage: NotRequired[float | None]
    sensorTime1: NotRequired[float | Time | None]
    sensorTime2: NotRequired[float | Time | None]
    sensorTime3: NotRequired[float | Time | None]
    sensorTime4: NotRequired[float | Time | None]
    warningTexts: NotRequired[list[str] | None]
    alertTexts: NotRequired[list[str] | None]
    alerts: NotRequired[list[str | float] | None]
    warnings: NotRequired[list[str | float] | None]
    hasCriticalAlert: NotRequired[bool | None]
    attributes: NotRequired[Attributes | None]
    accessoriesAttributes: NotRequired[list[Any] | None]
    inputs: NotRequired[list[Any] | None]
    outputs: NotRequired[list[Any] | None]
    source: NotRequired[str | None]
    receivedAt: NotRequired[Any]


class WebhookBody(TypedDict):
    url: str
    events: NotRequired[list[str] | None]
    devices: NotRequired[list[str] | None]
    groups: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    format: NotRequired[WebhookBodyFormat | None]
    settings: NotRequired[WebhookBodySettings | None]


class WrappedWebhookBody(TypedDict):
    webhook: WebhookBody


class PatchWebhookBody(TypedDict):
    url: NotRequired[str]
    events: NotRequired[list[str] | None]
    devices: NotRequired[list[str] | None]
    groups: NotRequired[list[str] | None]
    description: NotRequired[str | None]
    enabled: NotRequired[bool | None]
    format: NotRequired[WebhookBodyFormat | None]
    settings: NotRequired[PatchWebhookBodySettings | None]


class WrappedPatchWebhookBody(TypedDict):
    webhook: PatchWebhookBody


class GroupBody(TypedDict):
    name: str
    description: NotRequired[str | None]
    devices: NotRequired[list[str] | None]


class PatchGroupBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str | None]
    devices: NotRequired[list[str] | None]


UserBody = TypedDict(
    "UserBody",
    {
        "name": "str",
        "email": "str",
        "country": "str",
        "timeZone": "str",
        "phone": "NotRequired[str | None]",
        "notify": "NotRequired[NewUserNotify | None]",
        "description": "NotRequired[str | None]",
        "message": "NotRequired[str | None]",
        "disabled": "NotRequired[bool | None]",
        "disabledMessage": "NotRequired[str | None]",
        "tags": "NotRequired[NewTags | None]",
        "privileges": "NotRequired[list[Privilege] | None]",
        "group": "NotRequired[str | None]",
        "groupId": "NotRequired[str | None]",
        "deviceId": "NotRequired[str | None]",
        "adminDevices": "NotRequired[int | None]",
        "from": "NotRequired[Time | None]",
        "expires": "NotRequired[Time | None]",
        "password": "NotRequired[str | None]",
    },
)


PatchUserBody = TypedDict(
    "PatchUserBody",
    {
        "name": "NotRequired[str]",
        "email": "NotRequired[str]",
        "country": "NotRequired[str]",
        "timeZone": "NotRequired[str]",
        "phone": "NotRequired[str | None]",
        "notify": "NotRequired[NewUserNotify | None]",
        "description": "NotRequired[str | None]",
        "message": "NotRequired[str | None]",
        "disabled": "NotRequired[bool | None]",
        "disabledMessage": "NotRequired[str | None]",
        "tags": "NotRequired[NewTags | None]",
        "privileges": "NotRequired[list[Privilege] | None]",
        "group": "NotRequired[str | None]",
        "groupId": "NotRequired[str | None]",
        "deviceId": "NotRequired[str | None]",
        "adminDevices": "NotRequired[int | None]",
        "from": "NotRequired[Time | None]",
        "expires": "NotRequired[Time | None]",
        "password": "NotRequired[str | None]",
    },
)


class ZoneBody(TypedDict):
    name: str
    description: NotRequired[str | None]
    color: NotRequired[str | None]
    shape: ZoneShape


class CircleShape(TypedDict):
    type: Literal["Circle"]
    center: list[float]
    radius: float


class PolygonShape(TypedDict):
    type: Literal["Polygon"]
    coordinates: list[list[list[float]]]


class MultiPolygonShape(TypedDict):
    type: Literal["MultiPolygon"]
    coordinates: list[list[list[list[float]]]]


class WrappedZoneBody(TypedDict):
    zone: ZoneBody


class PatchZoneBody(TypedDict):
    name: NotRequired[str]
    description: NotRequired[str | None]
    color: NotRequired[str | None]
    shape: NotRequired[ZoneShape]


class WrappedPatchZoneBody(TypedDict):
    zone: PatchZoneBody


class ZoneImport(TypedDict):
    type: Literal["FeatureCollection"]
    features: list[NewZoneFeature]


class NewZoneFeature(TypedDict):
    type: Literal["Feature"]
    geometry: ZoneGeometry
    properties: NotRequired[NewZoneProperties | None]


class PointGeometry(TypedDict):
    type: Literal["Point"]
    coordinates: list[float]


class PolygonGeometry(TypedDict):
    type: Literal["Polygon"]
    coordinates: list[list[list[float]]]


class MultiPolygonGeometry(TypedDict):
    type: Literal["MultiPolygon"]
    coordinates: list[list[list[list[float]]]]


class NewZoneProperties(TypedDict):
    name: NotRequired[str | None]
    description: NotRequired[Any]
    color: NotRequired[Any]
    radius: NotRequired[float | None]


class RuleBody(TypedDict):
    name: str
    enabled: NotRequired[bool | None]
    devices: NotRequired[list[str] | None]
    groups: NotRequired[list[str] | None]
    when: RuleCondition
    schedule: NotRequired[list[ScheduleEntry] | None]
    alertName: NotRequired[str | None]
    text: NotRequired[str | None]
    notifications: NotRequired[list[Channel] | None]
    emergency: NotRequired[bool | None]
    hysteresis: NotRequired[NewHysteresis | None]
    cooldownMinutes: NotRequired[int | None]
    lateMinutes: NotRequired[int | None]


class EntersCondition(TypedDict):
    type: Literal["enters"]
    zones: list[str]


class LeavesCondition(TypedDict):
    type: Literal["leaves"]
    zones: list[str]


class InsideCondition(TypedDict):
    type: Literal["inside"]
    zones: list[str]
    minutes: int


class OutsideCondition(TypedDict):
    type: Literal["outside"]
    zones: list[str]
    minutes: int


class SpeedCondition(TypedDict):
    type: Literal["speed"]
    above: NotRequired[float]
    below: NotRequired[float]
    zones: NotRequired[list[str]]
    computed: NotRequired[bool]


class ValueCondition(TypedDict):
    type: Literal["value"]
    member: str
    above: NotRequired[float]
    below: NotRequired[float]


class MovesCondition(TypedDict):
    type: Literal["moves"]
    metres: int


class StandsCondition(TypedDict):
    type: Literal["stands"]
    minutes: int


class SilentCondition(TypedDict):
    type: Literal["silent"]
    minutes: int


class ReturnsCondition(TypedDict):
    type: Literal["returns"]


ScheduleEntry = TypedDict(
    "ScheduleEntry",
    {
        "days": "list[Weekday]",
        "from": "str",
        "to": "str",
    },
)


class WrappedRuleBody(TypedDict):
    rule: RuleBody


class PatchRuleBody(TypedDict):
    name: NotRequired[str]
    enabled: NotRequired[bool | None]
    devices: NotRequired[list[str] | None]
    groups: NotRequired[list[str] | None]
    when: NotRequired[RuleCondition]
    schedule: NotRequired[list[ScheduleEntry] | None]
    alertName: NotRequired[str | None]
    text: NotRequired[str | None]
    notifications: NotRequired[list[Channel] | None]
    emergency: NotRequired[bool | None]
    hysteresis: NotRequired[NewHysteresis | None]
    cooldownMinutes: NotRequired[int | None]
    lateMinutes: NotRequired[int | None]


class WrappedPatchRuleBody(TypedDict):
    rule: PatchRuleBody


RuleTest = TypedDict(
    "RuleTest",
    {
        "deviceId": "str",
        "from": "Time",
        "to": "Time",
    },
)


class WatchBody(TypedDict):
    name: str
    deviceId: str
    due: NotRequired[Time | None]
    everyMinutes: NotRequired[int | None]
    graceMinutes: NotRequired[int | None]
    counts: NotRequired[WatchCounts | None]
    remindMinutes: NotRequired[int | None]
    alertName: NotRequired[str | None]
    emergency: NotRequired[bool | None]
    notifications: NotRequired[list[Channel] | None]


class WrappedWatchBody(TypedDict):
    watch: WatchBody


class PatchWatchBody(TypedDict):
    name: NotRequired[str]
    deviceId: NotRequired[str]
    due: NotRequired[Time | None]
    everyMinutes: NotRequired[int | None]
    graceMinutes: NotRequired[int | None]
    counts: NotRequired[WatchCounts | None]
    remindMinutes: NotRequired[int | None]
    alertName: NotRequired[str | None]
    emergency: NotRequired[bool | None]
    notifications: NotRequired[list[Channel] | None]


class WrappedPatchWatchBody(TypedDict):
    watch: PatchWatchBody


class WatchExtension(TypedDict):
    due: Time


ShareBody = TypedDict(
    "ShareBody",
    {
        "name": "str",
        "devices": "NotRequired[list[str] | None]",
        "groups": "NotRequired[list[str] | None]",
        "from": "NotRequired[Time | None]",
        "until": "NotRequired[Time | None]",
        "history": "NotRequired[int | None]",
        "delayMinutes": "NotRequired[int | None]",
        "precision": "NotRequired[ShareBodyPrecision | None]",
        "password": "NotRequired[str | None]",
    },
)


class WrappedShareBody(TypedDict):
    share: ShareBody


PatchShareBody = TypedDict(
    "PatchShareBody",
    {
        "name": "NotRequired[str]",
        "devices": "NotRequired[list[str] | None]",
        "groups": "NotRequired[list[str] | None]",
        "from": "NotRequired[Time | None]",
        "until": "NotRequired[Time | None]",
        "history": "NotRequired[int | None]",
        "delayMinutes": "NotRequired[int | None]",
        "precision": "NotRequired[ShareBodyPrecision | None]",
        "password": "NotRequired[str | None]",
    },
)


class WrappedPatchShareBody(TypedDict):
    share: PatchShareBody


class NewAlert(TypedDict):
    alertName: str
    text: NotRequired[str | None]
    dateTime: NotRequired[Time | None]
    emergency: NotRequired[bool | None]
    test: NotRequired[bool | None]
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    notifications: NotRequired[list[Channel] | None]
    id: NotRequired[Any]
    deviceId: NotRequired[Any]
    alerts: NotRequired[Any]
    acknowledged: NotRequired[Any]
    acknowledgedAt: NotRequired[Any]
    acknowledgedBy: NotRequired[Any]
    state: NotRequired[Any]
    resolvedAt: NotRequired[Any]
    resolvedBy: NotRequired[Any]
    log: NotRequired[Any]
    drill: NotRequired[Any]
    positionTime: NotRequired[Any]
    positionSource: NotRequired[Any]
    place: NotRequired[Any]
    late: NotRequired[Any]
    ruleId: NotRequired[Any]
    zoneId: NotRequired[Any]
    cancelled: NotRequired[Any]
    cancelledAt: NotRequired[Any]
    cancelledBy: NotRequired[Any]
    updates: NotRequired[Any]
    newestPosition: NotRequired[Any]
    deliveries: NotRequired[Any]


class ResolveAlertBody(TypedDict):
    note: NotRequired[str | None]


class NoteAlertBody(TypedDict):
    text: str


class ClaimIdentifierBody(TypedDict):
    deviceId: NotRequired[str | None]
    device: NotRequired[ClaimingDevice | None]


ReplayPayloadsBody = TypedDict(
    "ReplayPayloadsBody",
    {
        "from": "Time",
        "to": "Time",
    },
)


class SourceBody(TypedDict):
    name: str
    provider: SourceProvider
    enabled: NotRequired[bool | None]
    settings: NotRequired[NewSourceSettings | None]
    newDevices: NotRequired[NewDevices | None]
    keepRaw: NotRequired[bool | None]


class WrappedSourceBody(TypedDict):
    source: SourceBody


class PatchSourceBody(TypedDict):
    name: NotRequired[str]
    provider: NotRequired[SourceProvider]
    enabled: NotRequired[bool | None]
    settings: NotRequired[NewSourceSettings | None]
    newDevices: NotRequired[NewDevices | None]
    keepRaw: NotRequired[bool | None]


class WrappedPatchSourceBody(TypedDict):
    source: PatchSourceBody


class PastedPush(TypedDict):
    provider: SourceProvider
    settings: NotRequired[NewSourceSettings | None]
    contentType: NotRequired[str | None]
    query: NotRequired[str | PushQuery | None]
    headers: NotRequired[PastedPushHeaders | None]
    body: NotRequired[str | None]
    bodyBase64: NotRequired[str | None]


class ReleaseQuarantineBody(TypedDict):
    ids: list[str]


class DiscardQuarantineBody(TypedDict):
    ids: list[str]


class SendCommandBody(TypedDict):
    command: str
    format: NotRequired[CommandFormat | None]
    sms: NotRequired[bool | None]


class SetCommandChannelBody(TypedDict):
    sourceId: NotRequired[str | None]


class CreateOperatorBody(TypedDict):
    name: str
    role: CreateOperatorBodyRole
    email: NotRequired[str | None]
    expires: NotRequired[Time | None]
    key: NotRequired[bool | None]


class PatchOperatorBody(TypedDict):
    name: NotRequired[str]
    role: NotRequired[CreateOperatorBodyRole]
    email: NotRequired[str | None]
    expires: NotRequired[Time | None]


class WrappedPatchOperatorBody(TypedDict):
    operator: PatchOperatorBody


class RegenerateOperatorKeyBody(TypedDict):
    overlapSeconds: NotRequired[int | None]
    expires: NotRequired[Time | None]


class StartSupportBody(TypedDict):
    reason: str
    minutes: NotRequired[int | None]
    scopes: NotRequired[list[StartSupportBodyScope] | None]


class CreateAccountBody(TypedDict):
    userName: str
    name: str
    licenses: NotRequired[int | None]
    timeZone: str
    sandbox: NotRequired[bool | None]
    cell: NotRequired[int | None]


class PatchOperatedAccountBody(TypedDict):
    name: NotRequired[str]
    licenses: NotRequired[int]
    status: NotRequired[CallerAccountStatus]
    statusMessage: NotRequired[str]
    disabled: NotRequired[bool]
    budgets: NotRequired[NewBudgets | None]


class WrappedPatchOperatedAccountBody(TypedDict):
    account: PatchOperatedAccountBody


class DeleteAccountBody(TypedDict):
    userName: NotRequired[str]


class CreateAccountKeyBody(TypedDict):
    name: NotRequired[str | None]
    scopes: NotRequired[list[Scope] | None]
    expires: NotRequired[Time | None]
    version: NotRequired[CreateKeyBodyVersion | None]


class RestoreLedgerBody(TypedDict):
    time: NotRequired[Time | None]
    undo: NotRequired[str | None]


class ReconcileAccountBody(TypedDict):
    restored: NotRequired[bool | None]
    cursor: NotRequired[str | None]


class MoveAccountBody(TypedDict):
    cell: int


class EventDeviceCreated(TypedDict):
    id: str
    type: Literal["device.created"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceCreatedData


class EventDeviceUpdated(TypedDict):
    id: str
    type: Literal["device.updated"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceUpdatedData


class EventDeviceDeleted(TypedDict):
    id: str
    type: Literal["device.deleted"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceDeletedData


class EventDeviceRestored(TypedDict):
    id: str
    type: Literal["device.restored"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceRestoredData


class EventDeviceExpired(TypedDict):
    id: str
    type: Literal["device.expired"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceExpiredData


class EventDeviceReactivated(TypedDict):
    id: str
    type: Literal["device.reactivated"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceReactivatedData


class EventLocationReported(TypedDict):
    id: str
    type: Literal["location.reported"]
    time: str
    sequence: int
    accountId: str
    data: EventLocationReportedData


class Location(TypedDict):
    dateTime: str
    latitude: float
    longitude: float
    altitude: NotRequired[float]
    speed: NotRequired[float]
    course: NotRequired[float]
    accuracy: NotRequired[float]
    battery: NotRequired[float]
    fuel: NotRequired[float]
    fuel2: NotRequired[float]
    temperature: NotRequired[float]
    temperature2: NotRequired[float]
    inactiveSeconds: NotRequired[float]
    rpm: NotRequired[float]
    milleage: NotRequired[float]
    sensorTime1: NotRequired[float | str]
    sensorTime2: NotRequired[float | str]
    sensorTime3: NotRequired[float | str]
    sensorTime4: NotRequired[float | str]
    warningTexts: NotRequired[list[str]]
    alertTexts: NotRequired[list[str]]
    alerts: NotRequired[list[str | float]]
    warnings: NotRequired[list[str | float]]
    hasCriticalAlert: NotRequired[bool]
    attributes: NotRequired[Attributes]
    accessoriesAttributes: NotRequired[list[Any]]
    inputs: NotRequired[list[Any]]
    outputs: NotRequired[list[Any]]
    source: NotRequired[str]
    receivedAt: str


class EventAlertRaised(TypedDict):
    id: str
    type: Literal["alert.raised"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertRaisedData


class EventAlertUpdated(TypedDict):
    id: str
    type: Literal["alert.updated"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertUpdatedData


class EventAlertAcknowledged(TypedDict):
    id: str
    type: Literal["alert.acknowledged"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertAcknowledgedData


class EventAlertUndelivered(TypedDict):
    id: str
    type: Literal["alert.undelivered"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertUndeliveredData


class EventAlertEscalated(TypedDict):
    id: str
    type: Literal["alert.escalated"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertEscalatedData


class EventAlertCancelled(TypedDict):
    id: str
    type: Literal["alert.cancelled"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertCancelledData


class EventAlertResolved(TypedDict):
    id: str
    type: Literal["alert.resolved"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertResolvedData


class EventAlertReopened(TypedDict):
    id: str
    type: Literal["alert.reopened"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertReopenedData


class EventAlertNoted(TypedDict):
    id: str
    type: Literal["alert.noted"]
    time: str
    sequence: int
    accountId: str
    data: EventAlertNotedData


class EventZoneEntered(TypedDict):
    id: str
    type: Literal["zone.entered"]
    time: str
    sequence: int
    accountId: str
    data: EventZoneEnteredData


class EventZoneLeft(TypedDict):
    id: str
    type: Literal["zone.left"]
    time: str
    sequence: int
    accountId: str
    data: EventZoneLeftData


class EventDeviceSilent(TypedDict):
    id: str
    type: Literal["device.silent"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceSilentData


class EventDeviceReturned(TypedDict):
    id: str
    type: Literal["device.returned"]
    time: str
    sequence: int
    accountId: str
    data: EventDeviceReturnedData


class EventWatchDue(TypedDict):
    id: str
    type: Literal["watch.due"]
    time: str
    sequence: int
    accountId: str
    data: EventWatchDueData


class EventWatchOverdue(TypedDict):
    id: str
    type: Literal["watch.overdue"]
    time: str
    sequence: int
    accountId: str
    data: EventWatchOverdueData


class EventWatchCheckedIn(TypedDict):
    id: str
    type: Literal["watch.checkedIn"]
    time: str
    sequence: int
    accountId: str
    data: EventWatchCheckedInData


class EventMessageSent(TypedDict):
    id: str
    type: Literal["message.sent"]
    time: str
    sequence: int
    accountId: str
    data: EventMessageSentData


class EventMessageFailed(TypedDict):
    id: str
    type: Literal["message.failed"]
    time: str
    sequence: int
    accountId: str
    data: EventMessageFailedData


class EventMessageSuppressed(TypedDict):
    id: str
    type: Literal["message.suppressed"]
    time: str
    sequence: int
    accountId: str
    data: EventMessageSuppressedData


class EventMessageReceived(TypedDict):
    id: str
    type: Literal["message.received"]
    time: str
    sequence: int
    accountId: str
    data: EventMessageReceivedData


class EventLimitReached(TypedDict):
    id: str
    type: Literal["limit.reached"]
    time: str
    sequence: int
    accountId: str
    data: EventLimitReachedData


class EventLicenseExhausted(TypedDict):
    id: str
    type: Literal["license.exhausted"]
    time: str
    sequence: int
    accountId: str
    data: EventLicenseExhaustedData


class EventLicenseAvailable(TypedDict):
    id: str
    type: Literal["license.available"]
    time: str
    sequence: int
    accountId: str
    data: EventLicenseAvailableData


class EventKeyCreated(TypedDict):
    id: str
    type: Literal["key.created"]
    time: str
    sequence: int
    accountId: str
    data: EventKeyCreatedData


class EventKeyRevoked(TypedDict):
    id: str
    type: Literal["key.revoked"]
    time: str
    sequence: int
    accountId: str
    data: EventKeyRevokedData


class ReadHealthReply(TypedDict):
    success: Literal[True]
    status: ReadHealthReplyStatus
    lastSweep: str | None
    sweepOnTime: bool
    cells: list[CellHealth]


class Problem(TypedDict):
    success: Literal[False]
    error: str
    type: str
    title: str
    status: int
    detail: str
    code: ProblemCode
    instance: str
    requestId: str
    errors: NotRequired[list[ProblemError]]
    availableAt: NotRequired[str | None]
    resetAt: NotRequired[str]
    alertId: NotRequired[str]
    deviceId: NotRequired[str]


class ReadOpenApiReply(TypedDict):
    openapi: str


class GetTokenReply(TypedDict):
    success: Literal[True]
    token: str
    expires: str


class SessionTokenReply(TypedDict):
    success: Literal[True]
    token: str
    expires: str


class Done(TypedDict):
    success: Literal[True]


class SessionList(TypedDict):
    success: Literal[True]
    sessions: list[Session]


class Session(TypedDict):
    id: str
    current: bool
    userAgent: str
    agent: SessionAgent | None
    creation: str
    lastUsed: str
    expires: str


class SetPasswordReply(TypedDict):
    success: Literal[True]
    account: str
    email: str


class ConsentReply(TypedDict):
    success: Literal[True]
    consent: ConsentReplyConsent


class ConsentDecision(TypedDict):
    success: Literal[True]
    redirectTo: str


class ReadMeReply(TypedDict):
    success: Literal[True]
    account: CallerAccount
    user: CallerUser | None
    key: Key | None
    scopes: list[Scope]


class CallerAccount(TypedDict):
    id: str
    userName: str
    name: str
    timeZone: str
    status: CallerAccountStatus
    statusMessage: str
    sandbox: Sandbox | None


class Sandbox(TypedDict):
    of: str | None
    erasesAt: str | None


class CallerUser(TypedDict):
    id: str
    name: str
    email: str
    timeZone: str
    message: str
    notify: CallerUserNotify
    privileges: list[Privilege]
    group: str | None
    groupId: str | None
    lastLogin: str | None


class Key(TypedDict):
    id: str
    name: str
    scopes: list[Scope]
    userId: str | None
    creation: str
    expires: str | None
    lastUsed: str | None
    version: str
    support: KeySupport | None


class PushSubscriptionList(TypedDict):
    success: Literal[True]
    pushSubscriptions: list[PushSubscription]


class PushSubscription(TypedDict):
    id: str
    endpoint: str
    userAgent: str
    creation: str
    current: bool


class PushSubscriptionReply(TypedDict):
    success: Literal[True]
    pushSubscription: PushSubscription


class ReadPushKeyReply(TypedDict):
    success: Literal[True]
    publicKey: str


class KeyPage(TypedDict):
    success: Literal[True]
    keys: list[Key]
    nextCursor: str | None


class NewKeyReply(TypedDict):
    success: Literal[True]
    key: Key
    apiKey: str | None


class KeyReply(TypedDict):
    success: Literal[True]
    key: Key


class MessagePage(TypedDict):
    success: Literal[True]
    messages: list[Message]
    nextCursor: str | None


class Message(TypedDict):
    id: str
    kind: MessageKind
    channel: Channel
    to: str
    status: MessageStatus
    reason: str | None
    resetAt: str | None
    alertId: str | None
    commandId: str | None
    deviceId: str | None
    subject: str
    text: str
    provider: str | None
    attempts: int
    lastModified: str


class MessageReply(TypedDict):
    success: Literal[True]
    message: Message


class AuditEntryPage(TypedDict):
    success: Literal[True]
    entries: list[AuditEntry]
    nextCursor: str | None


class AuditEntry(TypedDict):
    id: str
    at: str
    actor: AuditEntryActor
    action: str
    resource: AuditEntryResource
    changes: list[AuditEntryChange]
    requestId: str
    address: str | None
    account: NotRequired[str | None]
    accountName: NotRequired[str | None]


ReadAccountUsageReply = TypedDict(
    "ReadAccountUsageReply",
    {
        "from": "str",
        "to": "str",
        "timeZone": "str",
        "closed": "bool",
        "licenseDays": "int",
        "locations": "int",
        "messages": "ReadAccountUsageReplyMessages",
        "providers": "list[ReadAccountUsageReplyProvider]",
        "storageBytes": "int",
        "requests": "int",
        "exact": "list[ReadAccountUsageReplyExact]",
        "success": "Literal[True]",
    },
)


class OwnSandboxReply(TypedDict):
    success: Literal[True]
    sandboxes: list[OwnSandbox]


class OwnSandbox(TypedDict):
    id: str
    userName: str
    name: str
    creation: str
    erasesAt: str | None


class OpenSandboxReply(TypedDict):
    success: Literal[True]
    sandbox: OwnSandbox
    apiKey: str | None
    signInUrl: str | None


class SandboxReply(TypedDict):
    success: Literal[True]
    sandbox: Sandbox | None


class AccountReply(TypedDict):
    success: Literal[True]
    account: Account


class Account(TypedDict):
    id: str
    userName: str
    name: str
    timeZone: str
    licenses: Licenses
    status: CallerAccountStatus
    statusMessage: str
    supportMayWrite: bool
    support: NotRequired[list[Support]]
    sandbox: Sandbox | None
    retentionDays: int
    emergencyAlerts: list[str]
    emergencyContacts: list[EmergencyContact]
    escalation: Escalation | None
    dailyNoticeLimit: AccountDailyNoticeLimit
    lastDrillAt: NotRequired[str | None]
    lastDrillAlertId: NotRequired[str | None]
    budgets: Budgets
    budgetUsage: BudgetUsage
    creation: str
    lastModified: str


class Licenses(TypedDict):
    total: int
    used: int
    available: int


class Support(TypedDict):
    id: str
    operator: str
    reason: str
    scopes: list[StartSupportBodyScope]
    creation: str
    until: str


class Budgets(TypedDict):
    locationsPerDay: int
    storageBytes: int
    maxUsers: int
    requestsPerMinute: int
    maxRetentionDays: int
    maxZones: int
    messagesPerDay: BudgetsMessagesPerDay


class BudgetUsage(TypedDict):
    date: str
    locations: int
    storageBytes: int
    messages: NotRequired[BudgetUsageMessages]


class ReadLicenseLogReply(TypedDict):
    success: Literal[True]
    entries: list[LicenseLogEntry]
    nextCursor: str | None


class DevicePage(TypedDict):
    success: Literal[True]
    devices: list[Device]
    nextCursor: str | None


class Device(TypedDict):
    id: str
    name: str
    description: str
    min: str
    identifier: str | None
    model: str
    tags: Tags
    groups: list[str]
    state: DeviceState
    expires: str | None
    limits: DeviceLimits
    maxSpeed: float
    deletedAt: NotRequired[str]
    restorableUntil: NotRequired[str]
    usage: DeviceUsage
    lastLocation: Location | None
    lastContact: str | None
    quarantined: int
    creation: str
    lastModified: str


class DeviceReply(TypedDict):
    success: Literal[True]
    device: Device


class ReadUsageReply(TypedDict):
    success: Literal[True]
    usage: list[UsageDay]


class LocationReply(TypedDict):
    success: Literal[True]
    lastLocation: Location


class LocationPage(TypedDict):
    success: Literal[True]
    locations: list[Location]
    nextCursor: str | None


class PostLocationsReply(TypedDict):
    success: Literal[True]
    accepted: int
    duplicates: int
    conflicts: int
    tooOld: int
    results: NotRequired[list[RejectedLocation]]
    locations: NotRequired[list[Location]]


class ReportLocationsReply(TypedDict):
    success: Literal[True]
    accepted: int
    duplicates: int
    conflicts: int
    tooOld: int
    unknown: int
    refused: int
    results: list[RejectedReport]


class ListEventsReply(TypedDict):
    success: Literal[True]
    events: list[Event]
    lastSequence: int
    nextCursor: str | None


class WebhookPage(TypedDict):
    success: Literal[True]
    webhooks: list[Webhook]
    nextCursor: str | None


class Webhook(TypedDict):
    id: str
    url: str
    events: list[str]
    devices: list[str]
    groups: list[str]
    description: str
    enabled: bool
    disabledReason: WebhookDisabledReason | None
    format: WebhookBodyFormat
    settings: WebhookSettings
    creation: str
    lastModified: str


class NewWebhookReply(TypedDict):
    success: Literal[True]
    webhook: Webhook
    secret: str | None


class WebhookReply(TypedDict):
    success: Literal[True]
    webhook: Webhook


class WebhookDeliveryReply(TypedDict):
    success: Literal[True]
    delivery: WebhookDelivery


class WebhookDelivery(TypedDict):
    id: str
    status: WebhookDeliveryStatus
    events: int
    firstSequence: int | None
    lastSequence: int | None
    attempts: int
    attemptsByHand: int
    responseCode: int | None
    failure: str | None
    durationMs: int | None
    answer: str | None
    creation: str
    lastAttempt: str | None
    nextAttempt: str | None


class RotateSecretReply(TypedDict):
    success: Literal[True]
    webhook: Webhook
    secret: str | None
    previousUntil: str


class WebhookDeliveryPage(TypedDict):
    success: Literal[True]
    deliveries: list[WebhookDelivery]
    nextCursor: str | None


class GroupPage(TypedDict):
    success: Literal[True]
    groups: list[Group]
    nextCursor: str | None


class Group(TypedDict):
    id: str
    name: str
    description: str
    devices: list[str]
    creation: str
    lastModified: str


class ListCountriesReply(TypedDict):
    success: Literal[True]
    countries: ListCountriesReplyCountries


class ListTimeZonesReply(TypedDict):
    success: Literal[True]
    timeZones: ListTimeZonesReplyTimeZones


class UserPage(TypedDict):
    success: Literal[True]
    users: list[User]
    nextCursor: str | None


User = TypedDict(
    "User",
    {
        "id": "str",
        "name": "str",
        "email": "str",
        "country": "str",
        "timeZone": "str",
        "phone": "str | None",
        "notify": "CallerUserNotify",
        "description": "str",
        "message": "str",
        "disabled": "bool",
        "disabledMessage": "str",
        "tags": "Tags",
        "privileges": "list[Privilege]",
        "group": "str | None",
        "groupId": "str | None",
        "deviceId": "str | None",
        "adminDevices": "int | None",
        "from": "str | None",
        "expires": "str | None",
        "password": "None",
        "creation": "str",
        "modification": "str",
        "lastLogin": "str | None",
        "lastSeen": "str | None",
        "invited": "bool",
    },
)


class InviteUserReply(TypedDict):
    success: Literal[True]
    expires: str


class ZonePage(TypedDict):
    success: Literal[True]
    zones: list[Zone]
    nextCursor: str | None


class Zone(TypedDict):
    id: str
    name: str
    description: str
    color: str
    shape: ZoneShape
    creation: str
    lastModified: str


class ZoneReply(TypedDict):
    success: Literal[True]
    zone: Zone


class ZoneCollection(TypedDict):
    success: Literal[True]
    type: Literal["FeatureCollection"]
    features: list[ZoneFeature]


class ZoneFeature(TypedDict):
    type: Literal["Feature"]
    id: str
    geometry: ZoneGeometry
    properties: ZoneProperties


class ZoneProperties(TypedDict):
    name: str
    description: str
    color: str
    radius: NotRequired[float]


class ImportedZones(TypedDict):
    success: Literal[True]
    zones: list[Zone]


class DescribePlaceReply(TypedDict):
    success: Literal[True]
    place: str | None


class RulePage(TypedDict):
    success: Literal[True]
    rules: list[Rule]
    nextCursor: str | None


class Rule(TypedDict):
    id: str
    name: str
    enabled: bool
    devices: list[str]
    groups: list[str]
    when: RuleCondition
    schedule: list[ScheduleEntry]
    alertName: str
    text: str
    notifications: list[Channel]
    emergency: bool
    hysteresis: RuleHysteresis
    cooldownMinutes: int
    lateMinutes: int
    creation: str
    lastModified: str


class RuleReply(TypedDict):
    success: Literal[True]
    rule: Rule


class TestRuleReply(TypedDict):
    success: Literal[True]
    alerts: list[TestedAlert]
    testedUntil: str | None


class TestedAlert(TypedDict):
    deviceId: str
    dateTime: str
    latitude: float | None
    longitude: float | None
    text: str
    alerts: list[str]
    emergency: bool
    ruleId: str
    zoneId: str | None
    sinceChange: bool


class WatchPage(TypedDict):
    success: Literal[True]
    watches: list[Watch]
    nextCursor: str | None


class Watch(TypedDict):
    id: str
    name: str
    deviceId: str
    due: str | None
    everyMinutes: int | None
    graceMinutes: int
    counts: WatchCounts
    remindMinutes: int | None
    alertName: str
    emergency: bool
    notifications: list[Channel]
    state: WatchState
    nextDue: str
    lastCheckIn: str | None
    alertId: str | None
    creation: str
    lastModified: str


class NewWatchReply(TypedDict):
    success: Literal[True]
    watch: Watch
    url: str


class WatchReply(TypedDict):
    success: Literal[True]
    watch: Watch


class ShowWatchLinkReply(TypedDict):
    success: Literal[True]
    url: str


class SharePage(TypedDict):
    success: Literal[True]
    shares: list[Share]
    nextCursor: str | None


Share = TypedDict(
    "Share",
    {
        "id": "str",
        "name": "str",
        "devices": "list[str]",
        "groups": "list[str]",
        "from": "str | None",
        "until": "str | None",
        "history": "int",
        "delayMinutes": "int",
        "precision": "ShareBodyPrecision",
        "password": "None",
        "hasPassword": "bool",
        "views": "int",
        "lastViewed": "str | None",
        "creation": "str",
        "lastModified": "str",
    },
)


class NewShareReply(TypedDict):
    success: Literal[True]
    share: Share
    url: str | None


class ShareReply(TypedDict):
    success: Literal[True]
    share: Share


class AlertPage(TypedDict):
    success: Literal[True]
    alerts: list[Alert]
    nextCursor: str | None


class Alert(TypedDict):
    id: str
    deviceId: str
    dateTime: str
    latitude: float | None
    longitude: float | None
    positionTime: str | None
    positionSource: PositionSource
    place: str | None
    text: str
    alerts: list[str]
    emergency: bool
    late: bool
    ruleId: NotRequired[str]
    zoneId: NotRequired[str]
    notifications: list[Channel]
    test: bool
    state: AlertState
    acknowledged: bool
    acknowledgedAt: str | None
    acknowledgedBy: str | None
    resolvedAt: str | None
    resolvedBy: str | None
    cancelled: bool
    cancelledAt: str | None
    cancelledBy: str | None
    newestPosition: NotRequired[AlertNewestPosition | None]
    updates: list[AlertUpdate]
    deliveries: list[Delivery]
    log: NotRequired[list[AlertLogEntry]]
    drill: NotRequired[Drill]


class Delivery(TypedDict):
    id: str
    kind: MessageKind
    channel: Channel
    to: str
    status: MessageStatus
    reason: str | None
    resetAt: str | None
    name: str | None
    userId: str | None
    changedAt: str


class Drill(TypedDict):
    reached: list[DrillReached]
    notReached: list[DrillNotReached]


class PostAlertsReply(TypedDict):
    success: Literal[True]
    alert: Alert
    recipientsOmitted: NotRequired[int]
    warning: NotRequired[str]


class TripReply(TypedDict):
    success: Literal[True]
    trips: list[Trip]


class Trip(TypedDict):
    start: TripPlace
    end: TripPlace
    distance: float
    duration: float
    topSpeed: float | None
    meanSpeed: float | None
    locations: int


class TripPlace(TypedDict):
    dateTime: str
    latitude: float
    longitude: float


class StopReply(TypedDict):
    success: Literal[True]
    stops: list[Stop]


class Stop(TypedDict):
    start: str
    end: str
    duration: float
    latitude: float
    longitude: float
    locations: int


class DaySummaryReply(TypedDict):
    success: Literal[True]
    days: list[DaySummary]


class DaySummary(TypedDict):
    date: str
    locations: int
    trips: int
    distance: float
    movingSeconds: float
    topSpeed: float | None
    meanSpeed: float | None


class AlertReply(TypedDict):
    success: Literal[True]
    alert: Alert


class ListUnclaimedReply(TypedDict):
    success: Literal[True]
    unclaimed: list[UnclaimedIdentifier]
    dropped: int
    nextCursor: str | None


class ClaimIdentifierReply(TypedDict):
    success: Literal[True]
    device: Device
    imported: int
    pending: int


class ListFailuresReply(TypedDict):
    success: Literal[True]
    failures: list[FailedPayload]
    nextCursor: str | None


class ReadRawPayloadReply(TypedDict):
    success: Literal[True]
    contentType: str
    query: str
    headers: ReadRawPayloadReplyHeaders
    bodyBase64: str | None


class ReplayPayloadsReply(TypedDict):
    success: Literal[True]
    decoded: int
    failed: int


class SourcePage(TypedDict):
    success: Literal[True]
    sources: list[Source]
    nextCursor: str | None


class Source(TypedDict):
    id: str
    name: str
    provider: SourceProvider
    enabled: bool
    settings: SourceSettings
    newDevices: NewDevices
    keepRaw: bool
    lastReceived: str | None
    unclaimed: int
    failures: int
    creation: str
    lastModified: str


class NewSourceReply(TypedDict):
    success: Literal[True]
    source: Source
    url: str | None


class SourceReply(TypedDict):
    success: Literal[True]
    source: Source


class DecodePayloadReply(TypedDict):
    success: Literal[True]
    items: list[SourceItem]
    failures: list[str]
    reply: ProviderReply


class SourceItem(TypedDict):
    kind: SourceItemKind
    identifier: str
    location: NotRequired[ReportedLocation]
    dateTime: NotRequired[str]
    latitude: NotRequired[float | None]
    longitude: NotRequired[float | None]
    alertName: NotRequired[str]
    text: NotRequired[str]
    format: NotRequired[EventMessageReceivedDataFormat]
    key: str


class ListQuarantineReply(TypedDict):
    success: Literal[True]
    quarantine: list[QuarantinedLocation]
    nextCursor: str | None


class ReleaseQuarantineReply(TypedDict):
    success: Literal[True]
    released: int
    conflicts: list[str]


class DiscardQuarantineReply(TypedDict):
    success: Literal[True]
    discarded: int


class SendCommandReply(TypedDict):
    success: Literal[True]
    result: str
    command: Command


class Command(TypedDict):
    id: str
    received: bool
    status: CommandStatus
    format: CommandFormat
    command: str
    sms: bool
    creation: str
    answer: str | None


class ReadCommandChannelReply(TypedDict):
    success: Literal[True]
    sourceId: str | None


class SetCommandChannelReply(TypedDict):
    success: Literal[True]
    sourceId: str | None


class CommandPage(TypedDict):
    success: Literal[True]
    commands: list[Command]
    nextCursor: str | None


class CommandReply(TypedDict):
    success: Literal[True]
    command: Command


class CurrentOperatorReply(TypedDict):
    success: Literal[True]
    operator: CurrentOperator


class CurrentOperator(TypedDict):
    id: str
    name: str | None
    role: CreateOperatorBodyRole
    rights: list[CurrentOperatorRight]
    signIn: CurrentOperatorSignIn


class OperatorPage(TypedDict):
    success: Literal[True]
    operators: list[Operator]
    nextCursor: str | None


class Operator(TypedDict):
    id: str
    name: str
    role: CreateOperatorBodyRole
    email: str | None
    hasKey: bool
    expires: str | None
    oldKeyUntil: str | None
    lastUsed: str | None
    creation: str
    lastModified: str


class CreateOperatorReply(TypedDict):
    success: Literal[True]
    operator: Operator
    apiKey: str | None


class OperatorReply(TypedDict):
    success: Literal[True]
    operator: Operator


class ReadOperatorHealthReply(TypedDict):
    success: Literal[True]
    status: ReadHealthReplyStatus
    schema: ReadOperatorHealthReplySchema
    cells: list[OperatedCell]


class OperatedCell(TypedDict):
    cell: int
    reachable: bool
    accounts: int
    sizeBytes: int | None
    share: float | None
    schema: str | None
    lastSweep: str | None
    sweepParts: list[OperatedCellSweepPart]
    oldestPendingAlert: OperatedCellOldestPendingAlert | None
    oldestUnsentEmergency: OperatedCellOldestUnsentEmergency | None
    oldestUnsentMessage: OperatedCellOldestUnsentMessage | None
    oldestOutboxEntry: OperatedCellOldestOutboxEntry | None
    webhooksBehind: OperatedCellWebhooksBehind | None
    problems: list[OperatedCellProblem]


class ReadMetricsReply(TypedDict):
    success: Literal[True]
    metrics: list[ReadMetricsReplyMetric]


class StartSupportReply(TypedDict):
    success: Literal[True]
    support: Support
    token: str | None


class ListUsageReply(TypedDict):
    success: Literal[True]
    accounts: list[ListUsageReplyAccount]
    nextCursor: str | None


ReadOperatedUsageReply = TypedDict(
    "ReadOperatedUsageReply",
    {
        "from": "str",
        "to": "str",
        "timeZone": "str",
        "closed": "bool",
        "licenseDays": "int",
        "locations": "int",
        "messages": "ReadAccountUsageReplyMessages",
        "providers": "list[ReadAccountUsageReplyProvider]",
        "storageBytes": "int",
        "requests": "int",
        "exact": "list[ReadAccountUsageReplyExact]",
        "success": "Literal[True]",
    },
)


class ImportProgress(TypedDict):
    success: Literal[True]
    session: str
    files: int


class ImportAccountReply(TypedDict):
    success: Literal[True]
    account: OperatedAccount
    apiKey: str | None


class OperatedAccount(TypedDict):
    id: str
    userName: str
    name: str
    timeZone: str
    licenses: Licenses
    status: CallerAccountStatus
    statusMessage: str
    supportMayWrite: bool
    support: NotRequired[list[Support]]
    sandbox: Sandbox | None
    retentionDays: int
    emergencyAlerts: list[str]
    emergencyContacts: list[EmergencyContact]
    escalation: Escalation | None
    dailyNoticeLimit: AccountDailyNoticeLimit
    lastDrillAt: NotRequired[str | None]
    lastDrillAlertId: NotRequired[str | None]
    budgets: Budgets
    budgetUsage: BudgetUsage
    creation: str
    lastModified: str
    disabled: bool
    deletedAt: str | None
    erasesAt: str | None
    cell: int


class OperatedAccountPage(TypedDict):
    success: Literal[True]
    accounts: list[OperatedAccount]
    nextCursor: str | None


class CreateAccountReply(TypedDict):
    success: Literal[True]
    account: OperatedAccount
    apiKey: str | None


class OperatedAccountReply(TypedDict):
    success: Literal[True]
    account: OperatedAccount


class RestoreLedgerReply(TypedDict):
    success: Literal[True]
    undo: str


class ReconcileAccountReply(TypedDict):
    success: Literal[True]
    checked: int
    mended: Mended
    nextCursor: str | None


class Mended(TypedDict):
    account: int
    devices: int
    removed: int
    usage: int
    directory: int
    events: int
    erased: int


class ReconcileCellReply(TypedDict):
    success: Literal[True]
    accounts: int
    checked: int
    mended: Mended
    unknown: list[str]
    nextCursor: str | None


class MoveAccountReply(TypedDict):
    success: Literal[True]
    move: AccountMove


AccountMove = TypedDict(
    "AccountMove",
    {
        "from": "int",
        "to": "int",
        "step": "AccountMoveStep",
        "started": "str",
        "changed": "str",
        "switched": "str | None",
        "frozenMs": "int | None",
        "copied": "int",
        "caughtUp": "int",
        "verified": "int",
        "corrected": "int",
        "fault": "str | None",
    },
)


class RotatePushKeyReply(TypedDict):
    success: Literal[True]
    publicKey: str


class PushSubscriptionBodyKeys(TypedDict):
    p256dh: str
    auth: str


class PatchValue(TypedDict):
    op: PatchValueOp
    path: str
    value: Any


class PatchRemoval(TypedDict):
    op: Literal["remove"]
    path: str


PatchMove = TypedDict(
    "PatchMove",
    {
        "op": "PatchMoveOp",
        "path": "str",
        "from": "str",
    },
)


class NewEmergencyReserve(TypedDict):
    email: NotRequired[int | None]
    sms: NotRequired[int | None]


class NewDeviceLimits(TypedDict):
    expires: NotRequired[bool | None]
    expirationDate: NotRequired[Date | None]
    dailyEmailLimit: NotRequired[int | None]
    dailySmsLimit: NotRequired[int | None]
    emergencyReserve: NotRequired[NewEmergencyReserve | None]


LocationReport = TypedDict(
    "LocationReport",
    {
        "location": "NewLocation",
        "locations": "NotRequired[None]",
        "from": "NotRequired[Any]",
        "to": "NotRequired[Any]",
    },
)


LocationsReport = TypedDict(
    "LocationsReport",
    {
        "locations": "list[NewLocation]",
        "location": "NotRequired[None]",
        "from": "NotRequired[Any]",
        "to": "NotRequired[Any]",
    },
)


LocationQuery = TypedDict(
    "LocationQuery",
    {
        "from": "Time",
        "to": "NotRequired[Time | None]",
        "limit": "NotRequired[int | None]",
        "cursor": "NotRequired[str | None]",
        "location": "NotRequired[None]",
        "locations": "NotRequired[None]",
    },
)


LocationQueryUntil = TypedDict(
    "LocationQueryUntil",
    {
        "from": "NotRequired[None]",
        "to": "Time",
        "limit": "NotRequired[int | None]",
        "cursor": "NotRequired[str | None]",
        "location": "NotRequired[None]",
        "locations": "NotRequired[None]",
    },
)


WebhookBodySettings = TypedDict(
    "WebhookBodySettings",
    {
        "token": "NotRequired[str | None]",
        "cotType": "NotRequired[str | None]",
        "staleMinutes": "NotRequired[int | None]",
        "subjectType": "NotRequired[str | None]",
        "topic": "NotRequired[str | None]",
        "userName": "NotRequired[str | None]",
        "to": "NotRequired[str | None]",
        "from": "NotRequired[str | None]",
    },
)


class NewUserNotify(TypedDict):
    email: NotRequired[bool | None]
    sms: NotRequired[bool | None]
    push: NotRequired[bool | None]
    voice: NotRequired[bool | None]


class NewHysteresis(TypedDict):
    metres: NotRequired[float | None]
    fixes: NotRequired[int | None]


WrappedNewAlert = TypedDict(
    "WrappedNewAlert",
    {
        "alert": "NewAlert",
        "from": "NotRequired[Any]",
        "to": "NotRequired[Any]",
    },
)


AlertQuery = TypedDict(
    "AlertQuery",
    {
        "from": "Time",
        "to": "NotRequired[Time | None]",
        "limit": "NotRequired[int | None]",
        "cursor": "NotRequired[str | None]",
        "alertName": "NotRequired[str | None]",
        "acknowledged": "NotRequired[bool | None]",
        "emergency": "NotRequired[bool | None]",
        "state": "NotRequired[AlertState | None]",
        "sort": "NotRequired[AlertSort | None]",
        "alert": "NotRequired[None]",
    },
)


AlertQueryUntil = TypedDict(
    "AlertQueryUntil",
    {
        "from": "NotRequired[None]",
        "to": "Time",
        "limit": "NotRequired[int | None]",
        "cursor": "NotRequired[str | None]",
        "alertName": "NotRequired[str | None]",
        "acknowledged": "NotRequired[bool | None]",
        "emergency": "NotRequired[bool | None]",
        "state": "NotRequired[AlertState | None]",
        "sort": "NotRequired[AlertSort | None]",
        "alert": "NotRequired[None]",
    },
)


class ClaimingDevice(TypedDict):
    name: str
    description: NotRequired[str | None]
    min: NotRequired[str | None]
    identifier: NotRequired[str | None]
    model: NotRequired[str | None]
    tags: NotRequired[NewTags | None]
    limits: NotRequired[NewDeviceLimits | None]
    maxSpeed: NotRequired[float | None]


class NewSourceSettings(TypedDict):
    host: NotRequired[GarminHost | None]
    apiKey: NotRequired[str | None]
    userName: NotRequired[str | None]
    password: NotRequired[str | None]
    sender: NotRequired[str | None]
    requireJwt: NotRequired[bool | None]
    speedUnit: NotRequired[SpeedUnit | None]
    encryptionKey: NotRequired[str | None]


class EventDeviceCreatedData(TypedDict):
    deviceId: str
    name: str


class EventDeviceUpdatedData(TypedDict):
    deviceId: str
    name: str


class EventDeviceDeletedData(TypedDict):
    deviceId: str
    name: str


class EventDeviceRestoredData(TypedDict):
    deviceId: str
    name: str


class EventDeviceExpiredData(TypedDict):
    deviceId: str
    name: str
    expirationDate: str


class EventDeviceReactivatedData(TypedDict):
    deviceId: NotRequired[str]
    name: NotRequired[str]
    devices: NotRequired[int]
    timeZone: NotRequired[str]


class EventLocationReportedData(TypedDict):
    deviceId: str
    dateTime: str
    count: int
    location: Location | None


class EventAlertRaisedData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    alertName: str
    text: str | None
    dateTime: str
    latitude: float | None
    longitude: float | None
    positionTime: NotRequired[str | None]
    positionSource: NotRequired[PositionSource]
    emergency: NotRequired[bool]
    late: NotRequired[bool]
    ruleId: NotRequired[str]
    zoneId: NotRequired[str | None]


class EventAlertUpdatedData(TypedDict):
    deviceId: str
    alertId: str
    alertName: str
    emergency: Literal[True]
    dateTime: str
    latitude: float | None
    longitude: float | None


class EventAlertAcknowledgedData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    acknowledgedBy: str


class EventAlertUndeliveredData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    alertName: str
    reason: EventAlertUndeliveredDataReason
    notices: int
    noticesSuppressed: int


class EventAlertEscalatedData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    alertName: str
    round: int
    messages: int
    messagesSuppressed: int


class EventAlertCancelledData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    cancelledBy: str
    text: NotRequired[str | None]
    notices: int
    noticesSuppressed: int


class EventAlertResolvedData(TypedDict):
    deviceId: str
    alertId: str
    resolvedBy: str
    text: str | None


class EventAlertReopenedData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    reopenedBy: str | None
    text: str | None


class EventAlertNotedData(TypedDict):
    deviceId: str
    alertId: str
    notedBy: str
    text: str | None


class EventZoneEnteredData(TypedDict):
    deviceId: str
    ruleId: str
    zoneId: str | None
    dateTime: str


class EventZoneLeftData(TypedDict):
    deviceId: str
    ruleId: str
    zoneId: str | None
    dateTime: str


class EventDeviceSilentData(TypedDict):
    deviceId: str
    ruleId: str
    lastContact: str


class EventDeviceReturnedData(TypedDict):
    deviceId: str
    ruleId: str
    lastContact: str


class EventWatchDueData(TypedDict):
    deviceId: str
    watchId: str
    nextDue: str


class EventWatchOverdueData(TypedDict):
    deviceId: str
    watchId: str
    nextDue: str
    alertId: str


class EventWatchCheckedInData(TypedDict):
    deviceId: str
    watchId: str
    nextDue: str
    dateTime: str
    counts: WatchCounts
    state: WatchState


class EventMessageSentData(TypedDict):
    deviceId: NotRequired[str]
    messageId: str
    alertId: NotRequired[str]
    commandId: NotRequired[str]
    test: NotRequired[Literal[True]]
    channel: Channel


class EventMessageFailedData(TypedDict):
    deviceId: NotRequired[str]
    messageId: str
    alertId: NotRequired[str]
    commandId: NotRequired[str]
    test: NotRequired[Literal[True]]
    channel: Channel
    reason: str | None


class EventMessageSuppressedData(TypedDict):
    deviceId: str
    alertId: str
    test: NotRequired[Literal[True]]
    channel: Channel
    messages: int
    reason: EventMessageSuppressedDataReason
    resetAt: str


class EventMessageReceivedData(TypedDict):
    deviceId: str
    commandId: str
    text: str
    format: EventMessageReceivedDataFormat
    dateTime: str


class EventLimitReachedData(TypedDict):
    deviceId: str
    channel: Channel
    limit: int
    date: str
    resetAt: str


class EventLicenseExhaustedData(TypedDict):
    used: int
    total: int


class EventLicenseAvailableData(TypedDict):
    used: int
    total: int


class EventKeyCreatedData(TypedDict):
    keyId: str
    name: str


class EventKeyRevokedData(TypedDict):
    keyId: str


class CellHealth(TypedDict):
    cell: int
    sizeBytes: int | None
    full: bool


class ProblemError(TypedDict):
    pointer: str
    detail: str


class SessionAgent(TypedDict):
    name: str
    scopes: list[Scope]


class ConsentReplyConsent(TypedDict):
    name: str
    redirectHost: str
    isLocal: bool
    scopes: list[Scope]
    allowedScopes: list[Scope]


class CallerUserNotify(TypedDict):
    email: bool
    sms: bool
    push: bool
    voice: bool


class KeySupport(TypedDict):
    operator: str
    reason: str


class AuditEntryActor(TypedDict):
    type: AuditEntryActorType
    id: str
    name: str | None


class AuditEntryResource(TypedDict):
    type: str
    id: str


AuditEntryChange = TypedDict(
    "AuditEntryChange",
    {
        "path": "str",
        "from": "Any",
        "to": "Any",
    },
)


class ReadAccountUsageReplyMessages(TypedDict):
    email: int
    sms: int
    smsSegments: int
    push: int
    voice: int


class ReadAccountUsageReplyProvider(TypedDict):
    channel: Channel
    provider: str
    messages: int
    segments: int


class EmergencyContact(TypedDict):
    name: str
    email: NotRequired[str]
    phone: NotRequired[str]


class Escalation(TypedDict):
    afterMinutes: int
    rounds: int
    againAfterMinutes: int | None
    voice: bool


class AccountDailyNoticeLimit(TypedDict):
    email: int
    sms: int


class BudgetsMessagesPerDay(TypedDict):
    Email: int
    SMS: int
    Push: int
    Voice: int


class BudgetUsageMessages(TypedDict):
    Email: int
    SMS: int
    Push: int
    Voice: int


class LicenseLogEntry(TypedDict):
    sequence: int
    time: str
    deviceId: str | None
    what: LicenseChange
    used: int
    total: int


class EmergencyReserve(TypedDict):
    email: int
    sms: int


class DeviceLimits(TypedDict):
    expires: bool
    expirationDate: str | None
    dailyEmailLimit: int
    dailySmsLimit: int
    emergencyReserve: EmergencyReserve


class DeviceUsage(TypedDict):
    date: str
    emailsSent: int
    smsSent: int


class UsageDay(TypedDict):
    date: str
    emailsSent: int
    smsSent: int
    emailsSuppressed: NotRequired[int]
    smsSuppressed: NotRequired[int]


class RejectedLocation(TypedDict):
    index: int
    status: LocationRejection


class RejectedReport(TypedDict):
    index: int
    status: ReportLocationsReplyResultStatus
    code: NotRequired[ReportLocationsReplyResultCode]


class RuleHysteresis(TypedDict):
    metres: float
    fixes: int


class AlertNewestPosition(TypedDict):
    latitude: float
    longitude: float
    dateTime: str
    source: AlertNewestPositionSource
    place: str | None


class AlertUpdate(TypedDict):
    dateTime: str
    latitude: float | None
    longitude: float | None
    place: str | None


class AlertLogEntry(TypedDict):
    at: str
    action: AlertLogAction
    by: str | None
    text: str | None


class DrillReached(TypedDict):
    user: NotRequired[str]
    contact: NotRequired[str]
    name: str | None
    channel: Channel
    seconds: int


class DrillNotReached(TypedDict):
    user: NotRequired[str]
    contact: NotRequired[str]
    name: str | None
    channel: Channel
    status: MessageStatus
    reason: str | None


class ReportedLocation(TypedDict):
    dateTime: str
    latitude: float
    longitude: float
    altitude: NotRequired[float]
    speed: NotRequired[float]
    course: NotRequired[float]
    accuracy: NotRequired[float]
    battery: NotRequired[float]
    fuel: NotRequired[float]
    fuel2: NotRequired[float]
    temperature: NotRequired[float]
    temperature2: NotRequired[float]
    inactiveSeconds: NotRequired[float]
    rpm: NotRequired[float]
    milleage: NotRequired[float]
    sensorTime1: NotRequired[float | str]
    sensorTime2: NotRequired[float | str]
    sensorTime3: NotRequired[float | str]
    sensorTime4: NotRequired[float | str]
    warningTexts: NotRequired[list[str]]
    alertTexts: NotRequired[list[str]]
    alerts: NotRequired[list[str | float]]
    warnings: NotRequired[list[str | float]]
    hasCriticalAlert: NotRequired[bool]
    attributes: NotRequired[Attributes]
    accessoriesAttributes: NotRequired[list[Any]]
    inputs: NotRequired[list[Any]]
    outputs: NotRequired[list[Any]]
    source: NotRequired[str]


class UnclaimedIdentifier(TypedDict):
    identifier: str
    count: int
    firstReceived: str
    lastReceived: str
    lastLocation: ReportedLocation | None


class FailedPayload(TypedDict):
    id: str
    receivedAt: str
    reason: str
    size: int


class SourceSettings(TypedDict):
    host: NotRequired[GarminHost | None]
    apiKey: NotRequired[str | None]
    userName: NotRequired[str | None]
    password: NotRequired[str | None]
    sender: NotRequired[str | None]
    requireJwt: NotRequired[bool | None]
    speedUnit: NotRequired[SpeedUnit | None]
    encryptionKey: NotRequired[str | None]


class ProviderReply(TypedDict):
    status: int
    contentType: str | None
    body: str


class QuarantinedLocation(TypedDict):
    id: str
    reason: QuarantineReason
    location: ReportedLocation
    receivedAt: str


class ReadOperatorHealthReplySchema(TypedDict):
    expected: str
    ledger: int | None


class ReadMetricsReplyMetricSample(TypedDict):
    name: str
    labels: ReadMetricsReplyMetricSampleLabels
    value: float


class ReadMetricsReplyMetric(TypedDict):
    name: str
    type: ReadMetricsReplyMetricType
    help: str
    samples: list[ReadMetricsReplyMetricSample]


ListUsageReplyAccount = TypedDict(
    "ListUsageReplyAccount",
    {
        "from": "str",
        "to": "str",
        "timeZone": "str",
        "closed": "bool",
        "licenseDays": "int",
        "locations": "int",
        "messages": "ReadAccountUsageReplyMessages",
        "providers": "list[ReadAccountUsageReplyProvider]",
        "storageBytes": "int",
        "requests": "int",
        "exact": "list[ReadAccountUsageReplyExact]",
        "accountId": "str",
        "userName": "str | None",
        "name": "str | None",
    },
)


class NewEmergencyContact(TypedDict):
    name: str
    email: NotRequired[str | None]
    phone: NotRequired[str | None]


class NewEscalation(TypedDict):
    afterMinutes: NotRequired[int]
    rounds: NotRequired[int]
    againAfterMinutes: NotRequired[int | None]
    voice: NotRequired[bool | None]


class NewDailyNoticeLimit(TypedDict):
    email: NotRequired[int | None]
    sms: NotRequired[int | None]


class PatchDeviceBodyLimits(TypedDict):
    expires: NotRequired[bool | None]
    expirationDate: NotRequired[Date | None]
    dailyEmailLimit: NotRequired[int | None]
    dailySmsLimit: NotRequired[int | None]
    emergencyReserve: NotRequired[NewEmergencyReserve | None]


PatchWebhookBodySettings = TypedDict(
    "PatchWebhookBodySettings",
    {
        "token": "NotRequired[str | None]",
        "cotType": "NotRequired[str | None]",
        "staleMinutes": "NotRequired[int | None]",
        "subjectType": "NotRequired[str | None]",
        "topic": "NotRequired[str | None]",
        "userName": "NotRequired[str | None]",
        "to": "NotRequired[str | None]",
        "from": "NotRequired[str | None]",
    },
)


class NewMessageBudgets(TypedDict):
    Email: NotRequired[int | None]
    SMS: NotRequired[int | None]
    Push: NotRequired[int | None]
    Voice: NotRequired[int | None]


class NewBudgets(TypedDict):
    locationsPerDay: NotRequired[int | None]
    storageBytes: NotRequired[int | None]
    maxUsers: NotRequired[int | None]
    requestsPerMinute: NotRequired[int | None]
    maxRetentionDays: NotRequired[int | None]
    maxZones: NotRequired[int | None]
    messagesPerDay: NotRequired[NewMessageBudgets | None]


class OperatedCellSweepPart(TypedDict):
    part: str
    at: str | None


class OperatedCellOldestPendingAlert(TypedDict):
    since: str
    accountId: str


class OperatedCellOldestUnsentEmergency(TypedDict):
    since: str
    accountId: str


class OperatedCellOldestUnsentMessage(TypedDict):
    since: str
    accountId: str


class OperatedCellOldestOutboxEntry(TypedDict):
    since: str
    accountId: str


class OperatedCellWebhooksBehind(TypedDict):
    count: int
    since: str
    accountId: str


class GroupReply(Group, Done):
    pass


class UserReply(User, Done):
    pass


JsonPatch: TypeAlias = "list[PatchValue | PatchRemoval | PatchMove]"

PostLocationsBody: TypeAlias = """(
    LocationReport
    |     LocationsReport
    |     NewLocation
    |     list[NewLocation]
    |     LocationQuery
    |     LocationQueryUntil
)"""

ZoneShape: TypeAlias = "CircleShape | PolygonShape | MultiPolygonShape"

ZoneGeometry: TypeAlias = "PointGeometry | PolygonGeometry | MultiPolygonGeometry"

RuleCondition: TypeAlias = """(
    EntersCondition
    |     LeavesCondition
    |     InsideCondition
    |     OutsideCondition
    |     SpeedCondition
    |     ValueCondition
    |     MovesCondition
    |     StandsCondition
    |     SilentCondition
    |     ReturnsCondition
)"""

PostAlertsBody: TypeAlias = "WrappedNewAlert | NewAlert | AlertQuery | AlertQueryUntil"

Event: TypeAlias = """(
    EventDeviceCreated
    |     EventDeviceUpdated
    |     EventDeviceDeleted
    |     EventDeviceRestored
    |     EventDeviceExpired
    |     EventDeviceReactivated
    |     EventLocationReported
    |     EventAlertRaised
    |     EventAlertUpdated
    |     EventAlertAcknowledged
    |     EventAlertUndelivered
    |     EventAlertEscalated
    |     EventAlertCancelled
    |     EventAlertResolved
    |     EventAlertReopened
    |     EventAlertNoted
    |     EventZoneEntered
    |     EventZoneLeft
    |     EventDeviceSilent
    |     EventDeviceReturned
    |     EventWatchDue
    |     EventWatchOverdue
    |     EventWatchCheckedIn
    |     EventMessageSent
    |     EventMessageFailed
    |     EventMessageSuppressed
    |     EventMessageReceived
    |     EventLimitReached
    |     EventLicenseExhausted
    |     EventLicenseAvailable
    |     EventKeyCreated
    |     EventKeyRevoked
)"""

Scope: TypeAlias = Literal[
    "ingest",
    "read",
    "write",
    "execute",
    "admin",
]

CreateKeyBodyVersion: TypeAlias = Literal[
    "2026-11-18",
]

PatchValueOp: TypeAlias = Literal[
    "add",
    "replace",
    "test",
]

PatchMoveOp: TypeAlias = Literal[
    "move",
    "copy",
]

NewTags: TypeAlias = "dict[str, str]"

Attributes: TypeAlias = "dict[str, Any]"

WebhookBodyFormat: TypeAlias = Literal[
    "json",
    "cot",
    "earthranger",
    "gundi",
    "mqtt",
    "naf",
    "traccar",
]

Privilege: TypeAlias = Literal[
    "read",
    "write",
    "execute",
    "admin",
]

Channel: TypeAlias = Literal[
    "Email",
    "SMS",
    "Push",
    "Voice",
]

Weekday: TypeAlias = Literal[
    "mon",
    "tue",
    "wed",
    "thu",
    "fri",
    "sat",
    "sun",
]

WatchCounts: TypeAlias = Literal[
    "any",
    "message",
    "checkIn",
]

ShareBodyPrecision: TypeAlias = Literal[
    "exact",
    "1km",
    "10km",
]

AlertState: TypeAlias = Literal[
    "open",
    "acknowledged",
    "resolved",
    "cancelled",
]

AlertSort: TypeAlias = Literal[
    "dateTime",
    "-dateTime",
]

SourceProvider: TypeAlias = Literal[
    "osmand",
    "traccar",
    "garmin",
    "rockblock",
    "rock7",
    "cloudloop",
    "spot",
    "globalstar",
    "owntracks",
    "overland",
    "flespi",
]

GarminHost: TypeAlias = Literal[
    "ipcinbound.inreachapp.com",
    "explore.garmin.com",
    "eur-enterprise.inreach.garmin.com",
]

SpeedUnit: TypeAlias = Literal[
    "kn",
    "m/s",
    "km/h",
]

NewDevices: TypeAlias = Literal[
    "hold",
    "create",
]

PushQuery: TypeAlias = "dict[str, str]"

PastedPushHeaders: TypeAlias = "dict[str, str]"

CommandFormat: TypeAlias = Literal[
    "Text",
    "Hex",
    "Base64",
]

CreateOperatorBodyRole: TypeAlias = Literal[
    "support",
    "billing",
    "owner",
]

StartSupportBodyScope: TypeAlias = Literal[
    "read",
    "write",
    "execute",
]

PositionSource: TypeAlias = Literal[
    "reported",
    "last-known",
    "none",
]

EventAlertUndeliveredDataReason: TypeAlias = Literal[
    "daily-limit-reached",
    "message-budget-reached",
    "drill-limit-reached",
    "nobody-to-tell",
    "not-accepted",
    "not-delivered",
    "device-expired",
]

WatchState: TypeAlias = Literal[
    "active",
    "overdue",
    "completed",
    "cancelled",
]

EventMessageSuppressedDataReason: TypeAlias = Literal[
    "daily-limit-reached",
    "reserved-for-emergencies",
    "message-budget-reached",
    "drill-limit-reached",
]

EventMessageReceivedDataFormat: TypeAlias = Literal[
    "Text",
    "Hex",
]

ReadHealthReplyStatus: TypeAlias = Literal[
    "ok",
    "degraded",
]

ProblemCode: TypeAlias = Literal[
    "invalid-request",
    "malformed-body",
    "expiration-date-reached",
    "invalid-archive",
    "invalid-cursor",
    "report-too-old",
    "span-too-large",
    "invalid-link",
    "invalid-authorization",
    "invalid-patch",
    "token-missing",
    "token-invalid",
    "token-expired",
    "not-a-token",
    "key-revoked",
    "session-ended",
    "wrong-credentials",
    "invalid-signature",
    "account-disabled",
    "user-disabled",
    "account-read-only",
    "account-ingest-only",
    "forbidden",
    "wrong-origin",
    "route-not-found",
    "account-not-found",
    "move-not-found",
    "operator-not-found",
    "import-not-found",
    "alert-not-found",
    "cell-not-found",
    "delivery-not-found",
    "device-not-found",
    "group-not-found",
    "key-not-found",
    "message-not-found",
    "session-not-found",
    "subscription-not-found",
    "user-not-found",
    "source-not-found",
    "identifier-not-found",
    "payload-not-found",
    "command-not-found",
    "rule-not-found",
    "zone-not-found",
    "watch-not-found",
    "share-not-found",
    "webhook-not-found",
    "no-location",
    "method-not-allowed",
    "no-license-available",
    "identifier-taken",
    "usage-month-open",
    "move-running",
    "move-switched",
    "account-not-deleted",
    "not-a-sandbox",
    "sandbox-end-reached",
    "sandbox-of-sandbox",
    "sandbox-limit-reached",
    "device-deleted",
    "device-cap-reached",
    "source-cap-reached",
    "wrong-alert-state",
    "alert-log-full",
    "no-command-channel",
    "command-not-possible",
    "webhook-cap-reached",
    "zone-cap-reached",
    "zone-in-use",
    "rule-cap-reached",
    "watch-limit-reached",
    "share-limit-reached",
    "watch-ended",
    "delivery-gone",
    "device-expired",
    "message-not-failed",
    "recipient-gone",
    "daily-limit-reached",
    "drill-limit-reached",
    "message-budget-reached",
    "storage-full",
    "account-exists",
    "user-name-taken",
    "account-number-taken",
    "name-taken",
    "user-limit-reached",
    "email-taken",
    "group-in-use",
    "group-full",
    "history-unavailable",
    "patch-test-failed",
    "request-in-progress",
    "conflict",
    "precondition-failed",
    "body-too-large",
    "unsupported-media-type",
    "idempotency-key-reused",
    "daily-locations-reached",
    "too-many-requests",
    "internal",
    "links-unavailable",
    "cells-full",
    "account-moving",
    "unavailable",
]

CallerAccountStatus: TypeAlias = Literal[
    "active",
    "notice",
    "readOnly",
    "ingestOnly",
    "disabled",
]

MessageKind: TypeAlias = Literal[
    "alert",
    "notice",
    "escalation",
    "invitation",
    "reset",
    "command",
]

MessageStatus: TypeAlias = Literal[
    "queued",
    "sent",
    "delivered",
    "failed",
    "suppressed",
]

AuditEntryActorType: TypeAlias = Literal[
    "key",
    "user",
    "operator",
    "source",
    "system",
]

ReadAccountUsageReplyExact: TypeAlias = Literal[
    "licenseDays",
    "messages",
]

LicenseChange: TypeAlias = Literal[
    "granted",
    "released",
    "expired",
    "refused",
    "total-changed",
    "zone-changed",
]

Tags: TypeAlias = "dict[str, str]"

DeviceState: TypeAlias = Literal[
    "active",
    "expired",
]

LocationRejection: TypeAlias = Literal[
    "duplicate",
    "conflict",
    "tooOld",
]

ReportLocationsReplyResultStatus: TypeAlias = Literal[
    "duplicate",
    "conflict",
    "tooOld",
    "unknown",
    "refused",
]

ReportLocationsReplyResultCode: TypeAlias = Literal[
    "device-not-found",
    "device-expired",
]

WebhookDisabledReason: TypeAlias = Literal[
    "gone",
    "failing",
]

WebhookSettings: TypeAlias = "dict[str, str | float | None]"

WebhookDeliveryStatus: TypeAlias = Literal[
    "pending",
    "delivered",
    "failed",
]

ListCountriesReplyCountries: TypeAlias = "dict[str, str]"

ListTimeZonesReplyTimeZones: TypeAlias = "dict[str, str]"

AlertNewestPositionSource: TypeAlias = Literal[
    "alert",
    "update",
    "location",
]

AlertLogAction: TypeAlias = Literal[
    "raised",
    "joined",
    "acknowledged",
    "resolved",
    "cancelled",
    "reopened",
    "noted",
    "escalated",
    "undelivered",
]

ReadRawPayloadReplyHeaders: TypeAlias = "dict[str, str]"

SourceItemKind: TypeAlias = Literal[
    "location",
    "alert",
    "cancel",
    "message",
    "none",
]

QuarantineReason: TypeAlias = Literal[
    "zero-coordinates",
    "speed",
    "clock",
]

CommandStatus: TypeAlias = Literal[
    "queued",
    "sent",
    "delivered",
    "failed",
    "unknown",
]

CurrentOperatorRight: TypeAlias = Literal[
    "read",
    "usage",
    "support",
    "own",
]

CurrentOperatorSignIn: TypeAlias = Literal[
    "token",
    "key",
    "access",
]

ReadMetricsReplyMetricType: TypeAlias = Literal[
    "gauge",
    "counter",
    "histogram",
]

ReadMetricsReplyMetricSampleLabels: TypeAlias = "dict[str, str]"

AccountMoveStep: TypeAlias = Literal[
    "copying",
    "catchingUp",
    "verifying",
    "erasing",
    "done",
    "cancelling",
    "cancelled",
]

OperatedCellProblem: TypeAlias = Literal[
    "cell-unreachable",
    "cell-full",
    "schema-old",
    "sweep-late",
    "sweep-part-late",
    "alert-pending",
    "emergency-unsent",
    "message-unsent",
    "outbox-behind",
]

EventType: TypeAlias = Literal[
    "device.created",
    "device.updated",
    "device.deleted",
    "device.restored",
    "device.expired",
    "device.reactivated",
    "location.reported",
    "alert.raised",
    "alert.updated",
    "alert.acknowledged",
    "alert.undelivered",
    "alert.escalated",
    "alert.cancelled",
    "alert.resolved",
    "alert.reopened",
    "alert.noted",
    "zone.entered",
    "zone.left",
    "device.silent",
    "device.returned",
    "watch.due",
    "watch.overdue",
    "watch.checkedIn",
    "message.sent",
    "message.failed",
    "message.suppressed",
    "message.received",
    "limit.reached",
    "license.exhausted",
    "license.available",
    "key.created",
    "key.revoked",
]
