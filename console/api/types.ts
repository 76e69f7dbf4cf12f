// Written by `npm run openapi` from public/api/openapi.json. Do not edit.

type EventOf<Type, Data> = {
  id: string
  type: Type
  time: string
  sequence: number
  accountId: string
  data: Data
}
export type GetTokenBody = { userName: string; apiKey: string }
export type SignInBody = { account: string; email: string; password: string }
export type SignOutBody = { everywhere?: boolean | null }
export type RequestResetBody = { account: string; email: string }
export type SetPasswordBody = { link: string; password: string }
export type PushSubscriptionBody = {
  endpoint: string
  expirationTime?: number | null
  keys: PushSubscriptionBodyKeys
}
export type CreateKeyBody = {
  name: string
  scopes: Scope[]
  userId?: string | null
  expires?: string | null
}
export type RegenerateKeyBody = { overlapSeconds?: number | null }
export type PatchAccountBody = {
  name?: string
  timeZone?: string
  retentionDays?: number
  supportMayWrite?: boolean | null
  emergencyAlerts?: string[] | null
  emergencyContacts?: NewEmergencyContact[] | null
  escalation?: NewEscalation | null
  dailyNoticeLimit?: NewDailyNoticeLimit | null
}
export type WrappedPatchAccountBody = { account: PatchAccountBody }
export type JsonPatch = (PatchValue | PatchRemoval | PatchMove)[]
export type DeviceBody = {
  name: string
  description?: string | null
  min?: string | null
  identifier?: string | null
  model?: string | null
  tags?: NewTags | null
  limits?: NewDeviceLimits | null
  maxSpeed?: number | null
}
export type WrappedDeviceBody = { device: DeviceBody }
export type PatchDeviceBody = Partial<Omit<DeviceBody, 'limits'>> & {
  limits?: PatchDeviceBodyLimits | null
}
export type WrappedPatchDeviceBody = { device: PatchDeviceBody }
export type ReactivateDeviceBody = { expirationDate?: string | null }
export type PostLocationsBody =
  | LocationReport
  | LocationsReport
  | NewLocation
  | NewLocation[]
  | LocationQuery
  | LocationQueryUntil
export type NewLocation = {
  dateTime: string
  latitude: number
  longitude: number
  altitude?: number | null
  speed?: number | null
  course?: number | null
  accuracy?: number | null
  battery?: number | null
  fuel?: number | null
  fuel2?: number | null
  temperature?: number | null
  temperature2?: number | null
  inactiveSeconds?: number | null
  rpm?: number | null
  milleage?: number | null
  sensorTime1?: number | string | null
  sensorTime2?: number | string | null
  sensorTime3?: number | string | null
  sensorTime4?: number | string | null
  warningTexts?: string[] | null
  alertTexts?: string[] | null
  alerts?: (string | number)[] | null
  warnings?: (string | number)[] | null
  hasCriticalAlert?: boolean | null
  attributes?: Attributes | null
  accessoriesAttributes?: unknown[] | null
  inputs?: unknown[] | null
  outputs?: unknown[] | null
  source?: string | null
  receivedAt?: unknown
}
export type ReportLocationsBody = { locations: AddressedLocation[] }
export type AddressedLocation = NewLocation & {
  deviceId?: string | null
  identifier?: string | null
}
export type WebhookBody = {
  url: string
  events?: string[] | null
  devices?: string[] | null
  groups?: string[] | null
  description?: string | null
  enabled?: boolean | null
}
export type WrappedWebhookBody = { webhook: WebhookBody }
export type PatchWebhookBody = Partial<WebhookBody>
export type WrappedPatchWebhookBody = { webhook: PatchWebhookBody }
export type GroupBody = { name: string; description?: string | null; devices?: string[] | null }
export type PatchGroupBody = Partial<GroupBody>
export type UserBody = {
  name: string
  email: string
  country: string
  timeZone: string
  phone?: string | null
  notify?: NewUserNotify | null
  description?: string | null
  message?: string | null
  disabled?: boolean | null
  disabledMessage?: string | null
  tags?: NewTags | null
  privileges?: Privilege[] | null
  group?: string | null
  groupId?: string | null
  deviceId?: string | null
  adminDevices?: number | null
  from?: string | null
  expires?: string | null
  password?: string | null
}
export type PatchUserBody = Partial<UserBody>
export type ZoneBody = {
  name: string
  description?: string | null
  color?: string | null
  shape: ZoneShape
}
export type ZoneShape = CircleShape | PolygonShape | MultiPolygonShape
export type CircleShape = { type: 'Circle'; center: number[]; radius: number }
export type PolygonShape = { type: 'Polygon'; coordinates: number[][][] }
export type MultiPolygonShape = { type: 'MultiPolygon'; coordinates: number[][][][] }
export type WrappedZoneBody = { zone: ZoneBody }
export type PatchZoneBody = Partial<ZoneBody>
export type WrappedPatchZoneBody = { zone: PatchZoneBody }
export type ZoneImport = { type: 'FeatureCollection'; features: NewZoneFeature[] }
export type NewZoneFeature = {
  type: 'Feature'
  geometry: ZoneGeometry
  properties?: NewZoneProperties | null
}
export type ZoneGeometry = PointGeometry | PolygonGeometry | MultiPolygonGeometry
export type PointGeometry = { type: 'Point'; coordinates: number[] }
export type PolygonGeometry = { type: 'Polygon'; coordinates: number[][][] }
export type MultiPolygonGeometry = { type: 'MultiPolygon'; coordinates: number[][][][] }
export type NewZoneProperties = {
  name?: string | null
  description?: unknown
  color?: unknown
  radius?: number | null
}
export type RuleBody = {
  name: string
  enabled?: boolean | null
  devices?: string[] | null
  groups?: string[] | null
  when: RuleCondition
  schedule?: ScheduleEntry[] | null
  alertName?: string | null
  text?: string | null
  notifications?: Channel[] | null
  emergency?: boolean | null
  hysteresis?: NewHysteresis | null
  cooldownMinutes?: number | null
  lateMinutes?: number | null
}
export type RuleCondition =
  | EntersCondition
  | LeavesCondition
  | InsideCondition
  | OutsideCondition
  | SpeedCondition
  | ValueCondition
  | MovesCondition
  | StandsCondition
  | SilentCondition
  | ReturnsCondition
export type EntersCondition = { type: 'enters'; zones: string[] }
export type LeavesCondition = { type: 'leaves'; zones: string[] }
export type InsideCondition = { type: 'inside'; zones: string[]; minutes: number }
export type OutsideCondition = { type: 'outside'; zones: string[]; minutes: number }
export type SpeedCondition = {
  type: 'speed'
  above?: number
  below?: number
  zones?: string[]
  computed?: boolean
}
export type ValueCondition = { type: 'value'; member: string; above?: number; below?: number }
export type MovesCondition = { type: 'moves'; metres: number }
export type StandsCondition = { type: 'stands'; minutes: number }
export type SilentCondition = { type: 'silent'; minutes: number }
export type ReturnsCondition = { type: 'returns' }
export type ScheduleEntry = { days: Weekday[]; from: string; to: string }
export type WrappedRuleBody = { rule: RuleBody }
export type PatchRuleBody = Partial<RuleBody>
export type WrappedPatchRuleBody = { rule: PatchRuleBody }
export type RuleTest = { deviceId: string; from: string; to: string }
export type WatchBody = {
  name: string
  deviceId: string
  due?: string | null
  everyMinutes?: number | null
  graceMinutes?: number | null
  counts?: WatchCounts | null
  remindMinutes?: number | null
  alertName?: string | null
  emergency?: boolean | null
  notifications?: Channel[] | null
}
export type WrappedWatchBody = { watch: WatchBody }
export type PatchWatchBody = Partial<WatchBody>
export type WrappedPatchWatchBody = { watch: PatchWatchBody }
export type WatchExtension = { due: string }
export type PostAlertsBody = WrappedNewAlert | NewAlert | AlertQuery | AlertQueryUntil
export type NewAlert = {
  alertName: string
  text?: string | null
  dateTime?: string | null
  emergency?: boolean | null
  test?: boolean | null
  latitude?: number | null
  longitude?: number | null
  notifications?: Channel[] | null
  id?: unknown
  deviceId?: unknown
  alerts?: unknown
  acknowledged?: unknown
  acknowledgedAt?: unknown
  acknowledgedBy?: unknown
  state?: unknown
  resolvedAt?: unknown
  resolvedBy?: unknown
  log?: unknown
  drill?: unknown
  positionTime?: unknown
  positionSource?: unknown
  place?: unknown
  late?: unknown
  ruleId?: unknown
  zoneId?: unknown
  cancelled?: unknown
  cancelledAt?: unknown
  cancelledBy?: unknown
  updates?: unknown
  newestPosition?: unknown
  deliveries?: unknown
}
export type ResolveAlertBody = { note?: string | null }
export type NoteAlertBody = { text: string }
export type ClaimIdentifierBody = { deviceId?: string | null; device?: ClaimingDevice | null }
export type ReplayPayloadsBody = { from: string; to: string }
export type SourceBody = {
  name: string
  provider: SourceProvider
  enabled?: boolean | null
  settings?: NewSourceSettings | null
  newDevices?: NewDevices | null
  keepRaw?: boolean | null
}
export type WrappedSourceBody = { source: SourceBody }
export type PatchSourceBody = Partial<SourceBody>
export type WrappedPatchSourceBody = { source: PatchSourceBody }
export type PastedPush = {
  provider: SourceProvider
  settings?: NewSourceSettings | null
  contentType?: string | null
  query?: string | PushQuery | null
  headers?: PastedPushHeaders | null
  body?: string | null
  bodyBase64?: string | null
}
export type ReleaseQuarantineBody = { ids: string[] }
export type DiscardQuarantineBody = { ids: string[] }
export type SendCommandBody = {
  command: string
  format?: CommandFormat | null
  sms?: boolean | null
}
export type SetCommandChannelBody = { sourceId?: string | null }
export type CreateOperatorBody = {
  name: string
  role: CreateOperatorBodyRole
  email?: string | null
  expires?: string | null
  key?: boolean | null
}
export type PatchOperatorBody = {
  name?: string
  role?: CreateOperatorBodyRole
  email?: string | null
  expires?: string | null
}
export type WrappedPatchOperatorBody = { operator: PatchOperatorBody }
export type RegenerateOperatorKeyBody = { overlapSeconds?: number | null; expires?: string | null }
export type StartSupportBody = {
  reason: string
  minutes?: number | null
  scopes?: StartSupportBodyScope[] | null
}
export type CreateAccountBody = {
  userName: string
  name: string
  licenses: number
  timeZone: string
  cell?: number | null
}
export type PatchOperatedAccountBody = {
  name?: string
  licenses?: number
  status?: CallerAccountStatus
  statusMessage?: string
  disabled?: boolean
  budgets?: NewBudgets | null
}
export type WrappedPatchOperatedAccountBody = { account: PatchOperatedAccountBody }
export type DeleteAccountBody = { userName?: string }
export type CreateAccountKeyBody = {
  name?: string | null
  scopes?: Scope[] | null
  expires?: string | null
}
export type RestoreLedgerBody = { time?: string | null; undo?: string | null }
export type ReconcileAccountBody = { restored?: boolean | null; cursor?: string | null }
export type MoveAccountBody = { cell: number }
export type EventDeviceCreated = EventOf<'device.created', EventDeviceCreatedData>
export type EventDeviceUpdated = EventOf<'device.updated', EventDeviceUpdatedData>
export type EventDeviceDeleted = EventOf<'device.deleted', EventDeviceDeletedData>
export type EventDeviceRestored = EventOf<'device.restored', EventDeviceRestoredData>
export type EventDeviceExpired = EventOf<'device.expired', EventDeviceExpiredData>
export type EventDeviceReactivated = EventOf<'device.reactivated', EventDeviceReactivatedData>
export type EventLocationReported = EventOf<'location.reported', EventLocationReportedData>
export type Location = {
  dateTime: string
  latitude: number
  longitude: number
  altitude?: number
  speed?: number
  course?: number
  accuracy?: number
  battery?: number
  fuel?: number
  fuel2?: number
  temperature?: number
  temperature2?: number
  inactiveSeconds?: number
  rpm?: number
  milleage?: number
  sensorTime1?: number | string
  sensorTime2?: number | string
  sensorTime3?: number | string
  sensorTime4?: number | string
  warningTexts?: string[]
  alertTexts?: string[]
  alerts?: (string | number)[]
  warnings?: (string | number)[]
  hasCriticalAlert?: boolean
  attributes?: Attributes
  accessoriesAttributes?: unknown[]
  inputs?: unknown[]
  outputs?: unknown[]
  source?: string
  receivedAt: string
}
export type EventAlertRaised = EventOf<'alert.raised', EventAlertRaisedData>
export type EventAlertAcknowledged = EventOf<'alert.acknowledged', EventAlertAcknowledgedData>
export type EventAlertUndelivered = EventOf<'alert.undelivered', EventAlertUndeliveredData>
export type EventAlertEscalated = EventOf<'alert.escalated', EventAlertEscalatedData>
export type EventAlertCancelled = EventOf<'alert.cancelled', EventAlertCancelledData>
export type EventAlertResolved = EventOf<'alert.resolved', EventAlertResolvedData>
export type EventAlertReopened = EventOf<'alert.reopened', EventAlertReopenedData>
export type EventAlertNoted = EventOf<'alert.noted', EventAlertNotedData>
export type EventZoneEntered = EventOf<'zone.entered', EventZoneEnteredData>
export type EventZoneLeft = EventOf<'zone.left', EventZoneLeftData>
export type EventDeviceSilent = EventOf<'device.silent', EventDeviceSilentData>
export type EventDeviceReturned = EventOf<'device.returned', EventDeviceReturnedData>
export type EventWatchDue = EventOf<'watch.due', EventWatchDueData>
export type EventWatchOverdue = EventOf<'watch.overdue', EventWatchOverdueData>
export type EventWatchCheckedIn = EventOf<'watch.checkedIn', EventWatchCheckedInData>
export type EventMessageSent = EventOf<'message.sent', EventMessageSentData>
export type EventMessageFailed = EventOf<'message.failed', EventMessageFailedData>
export type EventMessageSuppressed = EventOf<'message.suppressed', EventMessageSuppressedData>
export type EventMessageReceived = EventOf<'message.received', EventMessageReceivedData>
export type EventLimitReached = EventOf<'limit.reached', EventLimitReachedData>
export type EventLicenseExhausted = EventOf<'license.exhausted', EventLicenseExhaustedData>
export type EventLicenseAvailable = EventOf<'license.available', EventLicenseAvailableData>
export type EventKeyCreated = EventOf<'key.created', EventKeyCreatedData>
export type EventKeyRevoked = EventOf<'key.revoked', EventKeyRevokedData>
export type Problem = {
  success: false
  error: string
  type: string
  title: string
  status: number
  detail: string
  code: ProblemCode
  instance: string
  requestId: string
  errors?: ProblemError[]
  availableAt?: string | null
  resetAt?: string
  alertId?: string
  deviceId?: string
}
export type ReadOpenApiReply = { openapi: string }
export type GetTokenReply = { success: true; token: string; expires: string }
export type SessionTokenReply = { success: true; token: string; expires: string }
export type Done = { success: true }
export type SessionList = { success: true; sessions: Session[] }
export type Session = {
  id: string
  current: boolean
  userAgent: string
  creation: string
  lastUsed: string
  expires: string
}
export type SetPasswordReply = { success: true; account: string; email: string }
export type ReadMeReply = {
  success: true
  account: CallerAccount
  user: CallerUser | null
  key: Key | null
  scopes: Scope[]
}
export type CallerAccount = {
  id: string
  userName: string
  name: string
  timeZone: string
  status: CallerAccountStatus
  statusMessage: string
}
export type CallerUser = {
  id: string
  name: string
  email: string
  timeZone: string
  message: string
  notify: CallerUserNotify
  privileges: Privilege[]
  group: string | null
  groupId: string | null
  lastLogin: string | null
}
export type Key = {
  id: string
  name: string
  scopes: Scope[]
  userId: string | null
  creation: string
  expires: string | null
  lastUsed: string | null
  support: KeySupport | null
}
export type PushSubscriptionList = { success: true; pushSubscriptions: PushSubscription[] }
export type PushSubscription = {
  id: string
  endpoint: string
  userAgent: string
  creation: string
  current: boolean
}
export type PushSubscriptionReply = { success: true; pushSubscription: PushSubscription }
export type ReadPushKeyReply = { success: true; publicKey: string }
export type KeyPage = { success: true; keys: Key[]; nextCursor: string | null }
export type NewKeyReply = { success: true; key: Key; apiKey: string | null }
export type KeyReply = { success: true; key: Key }
export type MessagePage = { success: true; messages: Message[]; nextCursor: string | null }
export type Message = {
  id: string
  kind: MessageKind
  channel: Channel
  to: string
  status: MessageStatus
  reason: string | null
  resetAt: string | null
  alertId: string | null
  commandId: string | null
  deviceId: string | null
  subject: string
  text: string
  provider: string | null
  attempts: number
  lastModified: string
}
export type MessageReply = { success: true; message: Message }
export type AuditEntryPage = { success: true; entries: AuditEntry[]; nextCursor: string | null }
export type AuditEntry = {
  id: string
  at: string
  actor: AuditEntryActor
  action: string
  resource: AuditEntryResource
  changes: AuditEntryChange[]
  requestId: string
  address: string | null
  account?: string | null
  accountName?: string | null
}
export type ReadAccountUsageReply = {
  from: string
  to: string
  timeZone: string
  closed: boolean
  licenseDays: number
  locations: number
  messages: ReadAccountUsageReplyMessages
  providers: ReadAccountUsageReplyProvider[]
  storageBytes: number
  requests: number
  exact: ReadAccountUsageReplyExact[]
  success: true
}
export type AccountReply = { success: true; account: Account }
export type Account = {
  id: string
  userName: string
  name: string
  timeZone: string
  licenses: Licenses
  status: CallerAccountStatus
  statusMessage: string
  supportMayWrite: boolean
  support?: Support[]
  retentionDays: number
  emergencyAlerts: string[]
  emergencyContacts: EmergencyContact[]
  escalation: Escalation | null
  dailyNoticeLimit: AccountDailyNoticeLimit
  lastDrillAt?: string | null
  lastDrillAlertId?: string | null
  budgets: Budgets
  budgetUsage: BudgetUsage
  creation: string
  lastModified: string
}
export type Licenses = { total: number; used: number; available: number }
export type Support = {
  id: string
  operator: string
  reason: string
  scopes: StartSupportBodyScope[]
  creation: string
  until: string
}
export type Budgets = {
  locationsPerDay: number
  storageBytes: number
  maxUsers: number
  requestsPerMinute: number
  maxRetentionDays: number
  maxZones: number
  messagesPerDay: BudgetsMessagesPerDay
}
export type BudgetUsage = {
  date: string
  locations: number
  storageBytes: number
  messages?: BudgetUsageMessages
}
export type ReadLicenseLogReply = {
  success: true
  entries: LicenseLogEntry[]
  nextCursor: string | null
}
export type DevicePage = { success: true; devices: Device[]; nextCursor: string | null }
export type Device = {
  id: string
  name: string
  description: string
  min: string
  identifier: string | null
  model: string
  tags: Tags
  groups: string[]
  state: DeviceState
  expires: string | null
  limits: DeviceLimits
  maxSpeed: number
  deletedAt?: string
  restorableUntil?: string
  usage: DeviceUsage
  lastLocation: Location | null
  lastContact: string | null
  quarantined: number
  creation: string
  lastModified: string
}
export type DeviceReply = { success: true; device: Device }
export type ReadUsageReply = { success: true; usage: UsageDay[] }
export type LocationReply = { success: true; lastLocation: Location }
export type LocationPage = { success: true; locations: Location[]; nextCursor: string | null }
export type PostLocationsReply = {
  success: true
  accepted: number
  duplicates: number
  conflicts: number
  tooOld: number
  results?: RejectedLocation[]
  locations?: Location[]
}
export type ReportLocationsReply = {
  success: true
  accepted: number
  duplicates: number
  conflicts: number
  tooOld: number
  unknown: number
  refused: number
  results: RejectedReport[]
}
export type ListEventsReply = {
  success: true
  events: Event[]
  lastSequence: number
  nextCursor: string | null
}
export type Event =
  | EventDeviceCreated
  | EventDeviceUpdated
  | EventDeviceDeleted
  | EventDeviceRestored
  | EventDeviceExpired
  | EventDeviceReactivated
  | EventLocationReported
  | EventAlertRaised
  | EventAlertAcknowledged
  | EventAlertUndelivered
  | EventAlertEscalated
  | EventAlertCancelled
  | EventAlertResolved
  | EventAlertReopened
  | EventAlertNoted
  | EventZoneEntered
  | EventZoneLeft
  | EventDeviceSilent
  | EventDeviceReturned
  | EventWatchDue
  | EventWatchOverdue
  | EventWatchCheckedIn
  | EventMessageSent
  | EventMessageFailed
  | EventMessageSuppressed
  | EventMessageReceived
  | EventLimitReached
  | EventLicenseExhausted
  | EventLicenseAvailable
  | EventKeyCreated
  | EventKeyRevoked
export type WebhookPage = { success: true; webhooks: Webhook[]; nextCursor: string | null }
export type Webhook = {
  id: string
  url: string
  events: string[]
  devices: string[]
  groups: string[]
  description: string
  enabled: boolean
  disabledReason: WebhookDisabledReason | null
  creation: string
  lastModified: string
}
export type NewWebhookReply = { success: true; webhook: Webhook; secret: string | null }
export type WebhookReply = { success: true; webhook: Webhook }
export type WebhookDeliveryReply = { success: true; delivery: WebhookDelivery }
export type WebhookDelivery = {
  id: string
  status: WebhookDeliveryStatus
  events: number
  firstSequence: number | null
  lastSequence: number | null
  attempts: number
  attemptsByHand: number
  responseCode: number | null
  failure: string | null
  durationMs: number | null
  answer: string | null
  creation: string
  lastAttempt: string | null
  nextAttempt: string | null
}
export type RotateSecretReply = {
  success: true
  webhook: Webhook
  secret: string | null
  previousUntil: string
}
export type WebhookDeliveryPage = {
  success: true
  deliveries: WebhookDelivery[]
  nextCursor: string | null
}
export type GroupPage = { success: true; groups: Group[]; nextCursor: string | null }
export type Group = {
  id: string
  name: string
  description: string
  devices: string[]
  creation: string
  lastModified: string
}
export type GroupReply = Group & Done
export type ListCountriesReply = { success: true; countries: ListCountriesReplyCountries }
export type ListTimeZonesReply = { success: true; timeZones: ListTimeZonesReplyTimeZones }
export type UserPage = { success: true; users: User[]; nextCursor: string | null }
export type User = CallerUser & {
  country: string
  phone: string | null
  description: string
  disabled: boolean
  disabledMessage: string
  tags: Tags
  deviceId: string | null
  adminDevices: number | null
  from: string | null
  expires: string | null
  password: null
  creation: string
  modification: string
  lastSeen: string | null
  invited: boolean
}
export type UserReply = User & Done
export type InviteUserReply = { success: true; expires: string }
export type ZonePage = { success: true; zones: Zone[]; nextCursor: string | null }
export type Zone = {
  id: string
  name: string
  description: string
  color: string
  shape: ZoneShape
  creation: string
  lastModified: string
}
export type ZoneReply = { success: true; zone: Zone }
export type ZoneCollection = { success: true; type: 'FeatureCollection'; features: ZoneFeature[] }
export type ZoneFeature = {
  type: 'Feature'
  id: string
  geometry: ZoneGeometry
  properties: ZoneProperties
}
export type ZoneProperties = { name: string; description: string; color: string; radius?: number }
export type ImportedZones = { success: true; zones: Zone[] }
export type DescribePlaceReply = { success: true; place: string | null }
export type RulePage = { success: true; rules: Rule[]; nextCursor: string | null }
export type Rule = {
  id: string
  name: string
  enabled: boolean
  devices: string[]
  groups: string[]
  when: RuleCondition
  schedule: ScheduleEntry[]
  alertName: string
  text: string
  notifications: Channel[]
  emergency: boolean
  hysteresis: RuleHysteresis
  cooldownMinutes: number
  lateMinutes: number
  creation: string
  lastModified: string
}
export type RuleReply = { success: true; rule: Rule }
export type TestRuleReply = { success: true; alerts: TestedAlert[]; testedUntil: string | null }
export type TestedAlert = {
  deviceId: string
  dateTime: string
  latitude: number | null
  longitude: number | null
  text: string
  alerts: string[]
  emergency: boolean
  ruleId: string
  zoneId: string | null
  sinceChange: boolean
}
export type WatchPage = { success: true; watches: Watch[]; nextCursor: string | null }
export type Watch = {
  id: string
  name: string
  deviceId: string
  due: string | null
  everyMinutes: number | null
  graceMinutes: number
  counts: WatchCounts
  remindMinutes: number | null
  alertName: string
  emergency: boolean
  notifications: Channel[]
  state: WatchState
  nextDue: string
  lastCheckIn: string | null
  alertId: string | null
  creation: string
  lastModified: string
}
export type NewWatchReply = { success: true; watch: Watch; url: string }
export type WatchReply = { success: true; watch: Watch }
export type ShowWatchLinkReply = { success: true; url: string }
export type AlertPage = { success: true; alerts: Alert[]; nextCursor: string | null }
export type Alert = {
  id: string
  deviceId: string
  dateTime: string
  latitude: number | null
  longitude: number | null
  positionTime: string | null
  positionSource: PositionSource
  place: string | null
  text: string
  alerts: string[]
  emergency: boolean
  late: boolean
  ruleId?: string
  zoneId?: string
  notifications: Channel[]
  test: boolean
  state: AlertState
  acknowledged: boolean
  acknowledgedAt: string | null
  acknowledgedBy: string | null
  resolvedAt: string | null
  resolvedBy: string | null
  cancelled: boolean
  cancelledAt: string | null
  cancelledBy: string | null
  newestPosition?: AlertNewestPosition | null
  updates: AlertUpdate[]
  deliveries: Delivery[]
  log?: AlertLogEntry[]
  drill?: Drill
}
export type Delivery = {
  id: string
  kind: MessageKind
  channel: Channel
  to: string
  status: MessageStatus
  reason: string | null
  resetAt: string | null
  name: string | null
  userId: string | null
  changedAt: string
}
export type Drill = { reached: DrillReached[]; notReached: DrillNotReached[] }
export type PostAlertsReply = {
  success: true
  alert: Alert
  recipientsOmitted?: number
  warning?: string
}
export type TripReply = { success: true; trips: Trip[] }
export type Trip = {
  start: TripPlace
  end: TripPlace
  distance: number
  duration: number
  topSpeed: number | null
  meanSpeed: number | null
  locations: number
}
export type TripPlace = { dateTime: string; latitude: number; longitude: number }
export type StopReply = { success: true; stops: Stop[] }
export type Stop = {
  start: string
  end: string
  duration: number
  latitude: number
  longitude: number
  locations: number
}
export type DaySummaryReply = { success: true; days: DaySummary[] }
export type DaySummary = {
  date: string
  locations: number
  trips: number
  distance: number
  movingSeconds: number
  topSpeed: number | null
  meanSpeed: number | null
}
export type AlertReply = { success: true; alert: Alert }
export type ListUnclaimedReply = {
  success: true
  unclaimed: UnclaimedIdentifier[]
  dropped: number
  nextCursor: string | null
}
export type ClaimIdentifierReply = {
  success: true
  device: Device
  imported: number
  pending: number
}
export type ListFailuresReply = {
  success: true
  failures: FailedPayload[]
  nextCursor: string | null
}
export type ReadRawPayloadReply = {
  success: true
  contentType: string
  query: string
  headers: ReadRawPayloadReplyHeaders
  bodyBase64: string | null
}
export type ReplayPayloadsReply = { success: true; decoded: number; failed: number }
export type SourcePage = { success: true; sources: Source[]; nextCursor: string | null }
export type Source = {
  id: string
  name: string
  provider: SourceProvider
  enabled: boolean
  settings: SourceSettings
  newDevices: NewDevices
  keepRaw: boolean
  lastReceived: string | null
  unclaimed: number
  failures: number
  creation: string
  lastModified: string
}
export type NewSourceReply = { success: true; source: Source; url: string | null }
export type SourceReply = { success: true; source: Source }
export type DecodePayloadReply = {
  success: true
  items: SourceItem[]
  failures: string[]
  reply: ProviderReply
}
export type SourceItem = {
  kind: SourceItemKind
  identifier: string
  location?: ReportedLocation
  dateTime?: string
  latitude?: number | null
  longitude?: number | null
  alertName?: string
  text?: string
  format?: EventMessageReceivedDataFormat
  key: string
}
export type ListQuarantineReply = {
  success: true
  quarantine: QuarantinedLocation[]
  nextCursor: string | null
}
export type ReleaseQuarantineReply = { success: true; released: number; conflicts: string[] }
export type DiscardQuarantineReply = { success: true; discarded: number }
export type SendCommandReply = { success: true; result: string; command: Command }
export type Command = {
  id: string
  received: boolean
  status: CommandStatus
  format: CommandFormat
  command: string
  sms: boolean
  creation: string
  answer: string | null
}
export type ReadCommandChannelReply = { success: true; sourceId: string | null }
export type SetCommandChannelReply = { success: true; sourceId: string | null }
export type CommandPage = { success: true; commands: Command[]; nextCursor: string | null }
export type CommandReply = { success: true; command: Command }
export type CurrentOperatorReply = { success: true; operator: CurrentOperator }
export type CurrentOperator = {
  id: string
  name: string | null
  role: CreateOperatorBodyRole
  rights: CurrentOperatorRight[]
  signIn: CurrentOperatorSignIn
}
export type OperatorPage = { success: true; operators: Operator[]; nextCursor: string | null }
export type Operator = {
  id: string
  name: string
  role: CreateOperatorBodyRole
  email: string | null
  hasKey: boolean
  expires: string | null
  oldKeyUntil: string | null
  lastUsed: string | null
  creation: string
  lastModified: string
}
export type CreateOperatorReply = { success: true; operator: Operator; apiKey: string | null }
export type OperatorReply = { success: true; operator: Operator }
export type ReadOperatorHealthReply = {
  success: true
  status: ReadHealthReplyStatus
  schema: ReadOperatorHealthReplySchema
  cells: OperatedCell[]
}
export type OperatedCell = {
  cell: number
  reachable: boolean
  accounts: number
  sizeBytes: number | null
  share: number | null
  schema: string | null
  lastSweep: string | null
  sweepParts: OperatedCellSweepPart[]
  oldestPendingAlert: OperatedCellOldestPendingAlert | null
  oldestUnsentEmergency: OperatedCellOldestUnsentEmergency | null
  oldestUnsentMessage: OperatedCellOldestUnsentMessage | null
  oldestOutboxEntry: OperatedCellOldestOutboxEntry | null
  webhooksBehind: OperatedCellWebhooksBehind | null
  problems: OperatedCellProblem[]
}
export type ReadMetricsReply = { success: true; metrics: ReadMetricsReplyMetric[] }
export type StartSupportReply = { success: true; support: Support; token: string | null }
export type ListUsageReply = {
  success: true
  accounts: ListUsageReplyAccount[]
  nextCursor: string | null
}
export type ReadOperatedUsageReply = ReadAccountUsageReply
export type ImportProgress = { success: true; session: string; files: number }
export type ImportAccountReply = { success: true; account: OperatedAccount; apiKey: string | null }
export type OperatedAccount = Account & {
  disabled: boolean
  deletedAt: string | null
  erasesAt: string | null
  cell: number
}
export type OperatedAccountPage = {
  success: true
  accounts: OperatedAccount[]
  nextCursor: string | null
}
export type CreateAccountReply = { success: true; account: OperatedAccount; apiKey: string | null }
export type OperatedAccountReply = { success: true; account: OperatedAccount }
export type RestoreLedgerReply = { success: true; undo: string }
export type ReconcileAccountReply = {
  success: true
  checked: number
  mended: Mended
  nextCursor: string | null
}
export type Mended = {
  account: number
  devices: number
  removed: number
  usage: number
  directory: number
  events: number
  erased: number
}
export type ReconcileCellReply = {
  success: true
  accounts: number
  checked: number
  mended: Mended
  unknown: string[]
  nextCursor: string | null
}
export type MoveAccountReply = { success: true; move: AccountMove }
export type AccountMove = {
  from: number
  to: number
  step: AccountMoveStep
  started: string
  changed: string
  switched: string | null
  frozenMs: number | null
  copied: number
  caughtUp: number
  verified: number
  corrected: number
  fault: string | null
}
export type RotatePushKeyReply = { success: true; publicKey: string }
export type PushSubscriptionBodyKeys = { p256dh: string; auth: string }
export type Scope = 'ingest' | 'read' | 'write' | 'execute' | 'admin'
export type PatchValueOp = 'add' | 'replace' | 'test'
export type PatchValue = { op: PatchValueOp; path: string; value: unknown }
export type PatchRemoval = { op: 'remove'; path: string }
export type PatchMoveOp = 'move' | 'copy'
export type PatchMove = { op: PatchMoveOp; path: string; from: string }
export type NewTags = Record<string, string>
export type NewEmergencyReserve = { email?: number | null; sms?: number | null }
export type NewDeviceLimits = {
  expires?: boolean | null
  expirationDate?: string | null
  dailyEmailLimit?: number | null
  dailySmsLimit?: number | null
  emergencyReserve?: NewEmergencyReserve | null
}
export type LocationReport = {
  location: NewLocation
  locations?: null
  from?: unknown
  to?: unknown
}
export type LocationsReport = {
  locations: NewLocation[]
  location?: null
  from?: unknown
  to?: unknown
}
export type LocationQuery = {
  from: string
  to?: string | null
  limit?: number | null
  cursor?: string | null
  location?: null
  locations?: null
}
export type LocationQueryUntil = {
  from?: null
  to: string
  limit?: number | null
  cursor?: string | null
  location?: null
  locations?: null
}
export type Attributes = Record<string, unknown>
export type NewUserNotify = {
  email?: boolean | null
  sms?: boolean | null
  push?: boolean | null
  voice?: boolean | null
}
export type Privilege = 'read' | 'write' | 'execute' | 'admin'
export type Channel = 'Email' | 'SMS' | 'Push' | 'Voice'
export type NewHysteresis = { metres?: number | null; fixes?: number | null }
export type Weekday = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'
export type WatchCounts = 'any' | 'message' | 'checkIn'
export type WrappedNewAlert = { alert: NewAlert; from?: unknown; to?: unknown }
export type AlertState = 'open' | 'acknowledged' | 'resolved' | 'cancelled'
export type AlertSort = 'dateTime' | '-dateTime'
export type AlertQuery = {
  from: string
  to?: string | null
  limit?: number | null
  cursor?: string | null
  alertName?: string | null
  acknowledged?: boolean | null
  emergency?: boolean | null
  state?: AlertState | null
  sort?: AlertSort | null
  alert?: null
}
export type AlertQueryUntil = {
  from?: null
  to: string
  limit?: number | null
  cursor?: string | null
  alertName?: string | null
  acknowledged?: boolean | null
  emergency?: boolean | null
  state?: AlertState | null
  sort?: AlertSort | null
  alert?: null
}
export type ClaimingDevice = DeviceBody
export type SourceProvider =
  | 'osmand'
  | 'traccar'
  | 'garmin'
  | 'rockblock'
  | 'rock7'
  | 'cloudloop'
  | 'spot'
  | 'globalstar'
  | 'owntracks'
  | 'overland'
  | 'flespi'
export type GarminHost =
  | 'ipcinbound.inreachapp.com'
  | 'explore.garmin.com'
  | 'eur-enterprise.inreach.garmin.com'
export type SpeedUnit = 'kn' | 'm/s' | 'km/h'
export type NewSourceSettings = {
  host?: GarminHost | null
  apiKey?: string | null
  userName?: string | null
  password?: string | null
  sender?: string | null
  requireJwt?: boolean | null
  speedUnit?: SpeedUnit | null
  encryptionKey?: string | null
}
export type NewDevices = 'hold' | 'create'
export type PushQuery = Record<string, string>
export type PastedPushHeaders = Record<string, string>
export type CommandFormat = 'Text' | 'Hex' | 'Base64'
export type CreateOperatorBodyRole = 'support' | 'billing' | 'owner'
export type StartSupportBodyScope = 'read' | 'write' | 'execute'
export type EventDeviceCreatedData = { deviceId: string; name: string }
export type EventDeviceUpdatedData = { deviceId: string; name: string }
export type EventDeviceDeletedData = { deviceId: string; name: string }
export type EventDeviceRestoredData = { deviceId: string; name: string }
export type EventDeviceExpiredData = { deviceId: string; name: string; expirationDate: string }
export type EventDeviceReactivatedData = {
  deviceId?: string
  name?: string
  devices?: number
  timeZone?: string
}
export type EventLocationReportedData = {
  deviceId: string
  dateTime: string
  count: number
  location: Location | null
}
export type PositionSource = 'reported' | 'last-known' | 'none'
export type EventAlertRaisedData = {
  deviceId: string
  alertId: string
  test?: true
  alertName: string
  text: string | null
  dateTime: string
  latitude: number | null
  longitude: number | null
  positionTime?: string | null
  positionSource?: PositionSource
  emergency?: boolean
  late?: boolean
  ruleId?: string
  zoneId?: string | null
}
export type EventAlertAcknowledgedData = {
  deviceId: string
  alertId: string
  test?: true
  acknowledgedBy: string
}
export type EventAlertUndeliveredDataReason =
  | 'daily-limit-reached'
  | 'message-budget-reached'
  | 'drill-limit-reached'
  | 'nobody-to-tell'
  | 'not-accepted'
  | 'not-delivered'
  | 'device-expired'
export type EventAlertUndeliveredData = {
  deviceId: string
  alertId: string
  test?: true
  alertName: string
  reason: EventAlertUndeliveredDataReason
  notices: number
  noticesSuppressed: number
}
export type EventAlertEscalatedData = {
  deviceId: string
  alertId: string
  test?: true
  alertName: string
  round: number
  messages: number
  messagesSuppressed: number
}
export type EventAlertCancelledData = {
  deviceId: string
  alertId: string
  test?: true
  cancelledBy: string
  text?: string | null
  notices: number
  noticesSuppressed: number
}
export type EventAlertResolvedData = {
  deviceId: string
  alertId: string
  resolvedBy: string
  text: string | null
}
export type EventAlertReopenedData = {
  deviceId: string
  alertId: string
  test?: true
  reopenedBy: string | null
  text: string | null
}
export type EventAlertNotedData = {
  deviceId: string
  alertId: string
  notedBy: string
  text: string | null
}
export type EventZoneEnteredData = {
  deviceId: string
  ruleId: string
  zoneId: string | null
  dateTime: string
}
export type EventZoneLeftData = {
  deviceId: string
  ruleId: string
  zoneId: string | null
  dateTime: string
}
export type EventDeviceSilentData = { deviceId: string; ruleId: string; lastContact: string }
export type EventDeviceReturnedData = { deviceId: string; ruleId: string; lastContact: string }
export type EventWatchDueData = { deviceId: string; watchId: string; nextDue: string }
export type EventWatchOverdueData = {
  deviceId: string
  watchId: string
  nextDue: string
  alertId: string
}
export type WatchState = 'active' | 'overdue' | 'completed' | 'cancelled'
export type EventWatchCheckedInData = {
  deviceId: string
  watchId: string
  nextDue: string
  dateTime: string
  counts: WatchCounts
  state: WatchState
}
export type EventMessageSentData = {
  deviceId?: string
  messageId: string
  alertId?: string
  commandId?: string
  test?: true
  channel: Channel
}
export type EventMessageFailedData = {
  deviceId?: string
  messageId: string
  alertId?: string
  commandId?: string
  test?: true
  channel: Channel
  reason: string | null
}
export type EventMessageSuppressedDataReason =
  | 'daily-limit-reached'
  | 'reserved-for-emergencies'
  | 'message-budget-reached'
  | 'drill-limit-reached'
export type EventMessageSuppressedData = {
  deviceId: string
  alertId: string
  test?: true
  channel: Channel
  messages: number
  reason: EventMessageSuppressedDataReason
  resetAt: string
}
export type EventMessageReceivedDataFormat = 'Text' | 'Hex'
export type EventMessageReceivedData = {
  deviceId: string
  commandId: string
  text: string
  format: EventMessageReceivedDataFormat
  dateTime: string
}
export type EventLimitReachedData = {
  deviceId: string
  channel: Channel
  limit: number
  date: string
  resetAt: string
}
export type EventLicenseExhaustedData = { used: number; total: number }
export type EventLicenseAvailableData = { used: number; total: number }
export type EventKeyCreatedData = { keyId: string; name: string }
export type EventKeyRevokedData = { keyId: string }
export type ReadHealthReplyStatus = 'ok' | 'degraded'
export type ProblemCode =
  | 'invalid-request'
  | 'malformed-body'
  | 'expiration-date-reached'
  | 'invalid-archive'
  | 'invalid-cursor'
  | 'report-too-old'
  | 'span-too-large'
  | 'invalid-link'
  | 'invalid-patch'
  | 'token-missing'
  | 'token-invalid'
  | 'token-expired'
  | 'not-a-token'
  | 'key-revoked'
  | 'session-ended'
  | 'wrong-credentials'
  | 'invalid-signature'
  | 'account-disabled'
  | 'user-disabled'
  | 'account-read-only'
  | 'account-ingest-only'
  | 'forbidden'
  | 'wrong-origin'
  | 'route-not-found'
  | 'account-not-found'
  | 'move-not-found'
  | 'operator-not-found'
  | 'import-not-found'
  | 'alert-not-found'
  | 'cell-not-found'
  | 'delivery-not-found'
  | 'device-not-found'
  | 'group-not-found'
  | 'key-not-found'
  | 'message-not-found'
  | 'session-not-found'
  | 'subscription-not-found'
  | 'user-not-found'
  | 'source-not-found'
  | 'identifier-not-found'
  | 'payload-not-found'
  | 'command-not-found'
  | 'rule-not-found'
  | 'zone-not-found'
  | 'watch-not-found'
  | 'webhook-not-found'
  | 'no-location'
  | 'method-not-allowed'
  | 'no-license-available'
  | 'identifier-taken'
  | 'usage-month-open'
  | 'move-running'
  | 'move-switched'
  | 'account-not-deleted'
  | 'device-deleted'
  | 'device-cap-reached'
  | 'source-cap-reached'
  | 'wrong-alert-state'
  | 'alert-log-full'
  | 'no-command-channel'
  | 'command-not-possible'
  | 'webhook-cap-reached'
  | 'zone-cap-reached'
  | 'zone-in-use'
  | 'rule-cap-reached'
  | 'watch-limit-reached'
  | 'watch-ended'
  | 'delivery-gone'
  | 'device-expired'
  | 'message-not-failed'
  | 'recipient-gone'
  | 'daily-limit-reached'
  | 'drill-limit-reached'
  | 'message-budget-reached'
  | 'storage-full'
  | 'account-exists'
  | 'user-name-taken'
  | 'account-number-taken'
  | 'name-taken'
  | 'user-limit-reached'
  | 'email-taken'
  | 'group-in-use'
  | 'group-full'
  | 'history-unavailable'
  | 'patch-test-failed'
  | 'request-in-progress'
  | 'conflict'
  | 'precondition-failed'
  | 'body-too-large'
  | 'unsupported-media-type'
  | 'idempotency-key-reused'
  | 'daily-locations-reached'
  | 'too-many-requests'
  | 'internal'
  | 'links-unavailable'
  | 'cells-full'
  | 'account-moving'
  | 'unavailable'
export type ProblemError = { pointer: string; detail: string }
export type CallerAccountStatus = 'active' | 'notice' | 'readOnly' | 'ingestOnly' | 'disabled'
export type CallerUserNotify = { email: boolean; sms: boolean; push: boolean; voice: boolean }
export type KeySupport = { operator: string; reason: string }
export type MessageKind = 'alert' | 'notice' | 'escalation' | 'invitation' | 'reset' | 'command'
export type MessageStatus = 'queued' | 'sent' | 'delivered' | 'failed' | 'suppressed'
export type AuditEntryActorType = 'key' | 'user' | 'operator' | 'source' | 'system'
export type AuditEntryActor = { type: AuditEntryActorType; id: string; name: string | null }
export type AuditEntryResource = { type: string; id: string }
export type AuditEntryChange = { path: string; from: unknown; to: unknown }
export type ReadAccountUsageReplyMessages = {
  email: number
  sms: number
  smsSegments: number
  push: number
  voice: number
}
export type ReadAccountUsageReplyProvider = {
  channel: Channel
  provider: string
  messages: number
  segments: number
}
export type ReadAccountUsageReplyExact = 'licenseDays' | 'messages'
export type EmergencyContact = { name: string; email?: string; phone?: string }
export type Escalation = {
  afterMinutes: number
  rounds: number
  againAfterMinutes: number | null
  voice: boolean
}
export type AccountDailyNoticeLimit = { email: number; sms: number }
export type BudgetsMessagesPerDay = { Email: number; SMS: number; Push: number; Voice: number }
export type BudgetUsageMessages = { Email: number; SMS: number; Push: number; Voice: number }
export type LicenseChange =
  | 'granted'
  | 'released'
  | 'expired'
  | 'refused'
  | 'total-changed'
  | 'zone-changed'
export type LicenseLogEntry = {
  sequence: number
  time: string
  deviceId: string | null
  what: LicenseChange
  used: number
  total: number
}
export type Tags = Record<string, string>
export type DeviceState = 'active' | 'expired'
export type EmergencyReserve = { email: number; sms: number }
export type DeviceLimits = {
  expires: boolean
  expirationDate: string | null
  dailyEmailLimit: number
  dailySmsLimit: number
  emergencyReserve: EmergencyReserve
}
export type DeviceUsage = { date: string; emailsSent: number; smsSent: number }
export type UsageDay = {
  date: string
  emailsSent: number
  smsSent: number
  emailsSuppressed?: number
  smsSuppressed?: number
}
export type LocationRejection = 'duplicate' | 'conflict' | 'tooOld'
export type RejectedLocation = { index: number; status: LocationRejection }
export type ReportLocationsReplyResultStatus =
  | 'duplicate'
  | 'conflict'
  | 'tooOld'
  | 'unknown'
  | 'refused'
export type ReportLocationsReplyResultCode = 'device-not-found' | 'device-expired'
export type RejectedReport = {
  index: number
  status: ReportLocationsReplyResultStatus
  code?: ReportLocationsReplyResultCode
}
export type WebhookDisabledReason = 'gone' | 'failing'
export type WebhookDeliveryStatus = 'pending' | 'delivered' | 'failed'
export type ListCountriesReplyCountries = Record<string, string>
export type ListTimeZonesReplyTimeZones = Record<string, string>
export type RuleHysteresis = { metres: number; fixes: number }
export type AlertNewestPositionSource = 'alert' | 'update' | 'location'
export type AlertNewestPosition = {
  latitude: number
  longitude: number
  dateTime: string
  source: AlertNewestPositionSource
  place: string | null
}
export type AlertUpdate = {
  dateTime: string
  latitude: number | null
  longitude: number | null
  place: string | null
}
export type AlertLogAction =
  | 'raised'
  | 'joined'
  | 'acknowledged'
  | 'resolved'
  | 'cancelled'
  | 'reopened'
  | 'noted'
  | 'escalated'
  | 'undelivered'
export type AlertLogEntry = {
  at: string
  action: AlertLogAction
  by: string | null
  text: string | null
}
export type DrillReached = {
  user?: string
  contact?: string
  name: string | null
  channel: Channel
  seconds: number
}
export type DrillNotReached = {
  user?: string
  contact?: string
  name: string | null
  channel: Channel
  status: MessageStatus
  reason: string | null
}
export type ReportedLocation = Omit<Location, 'receivedAt'>
export type UnclaimedIdentifier = {
  identifier: string
  count: number
  firstReceived: string
  lastReceived: string
  lastLocation: ReportedLocation | null
}
export type FailedPayload = { id: string; receivedAt: string; reason: string; size: number }
export type ReadRawPayloadReplyHeaders = Record<string, string>
export type SourceSettings = NewSourceSettings
export type ProviderReply = { status: number; contentType: string | null; body: string }
export type SourceItemKind = 'location' | 'alert' | 'cancel' | 'message' | 'none'
export type QuarantineReason = 'zero-coordinates' | 'speed' | 'clock'
export type QuarantinedLocation = {
  id: string
  reason: QuarantineReason
  location: ReportedLocation
  receivedAt: string
}
export type CommandStatus = 'queued' | 'sent' | 'delivered' | 'failed' | 'unknown'
export type CurrentOperatorRight = 'read' | 'usage' | 'support' | 'own'
export type CurrentOperatorSignIn = 'token' | 'key' | 'access'
export type ReadOperatorHealthReplySchema = { expected: string; ledger: number | null }
export type ReadMetricsReplyMetricType = 'gauge' | 'counter' | 'histogram'
export type ReadMetricsReplyMetricSampleLabels = Record<string, string>
export type ReadMetricsReplyMetricSample = {
  name: string
  labels: ReadMetricsReplyMetricSampleLabels
  value: number
}
export type ReadMetricsReplyMetric = {
  name: string
  type: ReadMetricsReplyMetricType
  help: string
  samples: ReadMetricsReplyMetricSample[]
}
export type ListUsageReplyAccount = Omit<ReadAccountUsageReply, 'success'> & {
  accountId: string
  userName: string | null
  name: string | null
}
export type AccountMoveStep =
  | 'copying'
  | 'catchingUp'
  | 'verifying'
  | 'erasing'
  | 'done'
  | 'cancelling'
  | 'cancelled'
export type NewEmergencyContact = { name: string; email?: string | null; phone?: string | null }
export type NewEscalation = {
  afterMinutes?: number
  rounds?: number
  againAfterMinutes?: number | null
  voice?: boolean | null
}
export type NewDailyNoticeLimit = { email?: number | null; sms?: number | null }
export type PatchDeviceBodyLimits = {
  expires?: boolean | null
  expirationDate?: string | null
  dailyEmailLimit?: number | null
  dailySmsLimit?: number | null
  emergencyReserve?: NewEmergencyReserve | null
}
export type NewMessageBudgets = {
  Email?: number | null
  SMS?: number | null
  Push?: number | null
  Voice?: number | null
}
export type NewBudgets = {
  locationsPerDay?: number | null
  storageBytes?: number | null
  maxUsers?: number | null
  requestsPerMinute?: number | null
  maxRetentionDays?: number | null
  maxZones?: number | null
  messagesPerDay?: NewMessageBudgets | null
}
export type OperatedCellSweepPart = { part: string; at: string | null }
export type OperatedCellOldestPendingAlert = { since: string; accountId: string }
export type OperatedCellOldestUnsentEmergency = { since: string; accountId: string }
export type OperatedCellOldestUnsentMessage = { since: string; accountId: string }
export type OperatedCellOldestOutboxEntry = { since: string; accountId: string }
export type OperatedCellWebhooksBehind = { count: number; since: string; accountId: string }
export type OperatedCellProblem =
  | 'cell-unreachable'
  | 'cell-full'
  | 'schema-old'
  | 'sweep-late'
  | 'sweep-part-late'
  | 'alert-pending'
  | 'emergency-unsent'
  | 'message-unsent'
  | 'outbox-behind'

/** Every type of event, by kind. */
export const EVENT_TYPES = [
  'device.created',
  'device.updated',
  'device.deleted',
  'device.restored',
  'device.expired',
  'device.reactivated',
  'location.reported',
  'alert.raised',
  'alert.acknowledged',
  'alert.undelivered',
  'alert.escalated',
  'alert.cancelled',
  'alert.resolved',
  'alert.reopened',
  'alert.noted',
  'zone.entered',
  'zone.left',
  'device.silent',
  'device.returned',
  'watch.due',
  'watch.overdue',
  'watch.checkedIn',
  'message.sent',
  'message.failed',
  'message.suppressed',
  'message.received',
  'limit.reached',
  'license.exhausted',
  'license.available',
  'key.created',
  'key.revoked',
] as const

/** What each operation takes and replies. */
export interface Operations {
  'GET /api/openapi.json': { reply: ReadOpenApiReply; body: never }
  'POST /api/Auth/Token': { reply: GetTokenReply; body: GetTokenBody }
  'POST /api/Auth/SignIn': { reply: SessionTokenReply; body: SignInBody }
  'POST /api/Auth/Refresh': { reply: SessionTokenReply; body: never }
  'POST /api/Auth/SignOut': { reply: Done; body: SignOutBody }
  'GET /api/Auth/Sessions': { reply: SessionList; body: never }
  'DELETE /api/Auth/Sessions/{sessionId}': { reply: Done; body: never }
  'POST /api/Auth/Reset': { reply: Done; body: RequestResetBody }
  'POST /api/Auth/Password': { reply: SetPasswordReply; body: SetPasswordBody }
  'GET /api/me': { reply: ReadMeReply; body: never }
  'GET /api/me/pushSubscriptions': { reply: PushSubscriptionList; body: never }
  'POST /api/me/pushSubscriptions': { reply: PushSubscriptionReply; body: PushSubscriptionBody }
  'DELETE /api/me/pushSubscriptions/{subscriptionId}': { reply: Done; body: never }
  'GET /api/push/key': { reply: ReadPushKeyReply; body: never }
  'GET /api/account/keys': { reply: KeyPage; body: never }
  'POST /api/account/keys': { reply: NewKeyReply; body: CreateKeyBody }
  'GET /api/account/keys/{keyId}': { reply: KeyReply; body: never }
  'DELETE /api/account/keys/{keyId}': { reply: Done; body: never }
  'POST /api/account/keys/{keyId}/regenerate': { reply: NewKeyReply; body: RegenerateKeyBody }
  'GET /api/account/messages': { reply: MessagePage; body: never }
  'POST /api/account/messages/{messageId}/retry': { reply: MessageReply; body: never }
  'GET /api/account/audit': { reply: AuditEntryPage; body: never }
  'GET /api/account/usage': { reply: ReadAccountUsageReply; body: never }
  'POST /api/account/export': { reply: never; body: never }
  'GET /api/account': { reply: AccountReply; body: never }
  'PATCH /api/account': {
    reply: AccountReply
    body: PatchAccountBody | WrappedPatchAccountBody | JsonPatch
  }
  'GET /api/account/licenses/log': { reply: ReadLicenseLogReply; body: never }
  'GET /api/devices': { reply: DevicePage; body: never }
  'POST /api/devices': { reply: DeviceReply; body: DeviceBody | WrappedDeviceBody }
  'GET /api/devices/{deviceId}': { reply: DeviceReply; body: never }
  'PUT /api/devices/{deviceId}': { reply: DeviceReply; body: DeviceBody | WrappedDeviceBody }
  'PATCH /api/devices/{deviceId}': {
    reply: DeviceReply
    body: PatchDeviceBody | WrappedPatchDeviceBody | JsonPatch
  }
  'DELETE /api/devices/{deviceId}': { reply: Done; body: never }
  'POST /api/devices/{deviceId}/reactivate': { reply: DeviceReply; body: ReactivateDeviceBody }
  'POST /api/devices/{deviceId}/restore': { reply: DeviceReply; body: never }
  'GET /api/devices/{deviceId}/usage': { reply: ReadUsageReply; body: never }
  'GET /api/devices/{deviceId}/lastLocation': { reply: LocationReply; body: never }
  'GET /api/devices/{deviceId}/locations': { reply: LocationPage; body: never }
  'POST /api/devices/{deviceId}/locations': {
    reply: LocationPage | PostLocationsReply
    body: PostLocationsBody
  }
  'POST /api/locations': { reply: ReportLocationsReply; body: ReportLocationsBody }
  'GET /api/events': { reply: ListEventsReply; body: never }
  'GET /api/webhooks': { reply: WebhookPage; body: never }
  'POST /api/webhooks': { reply: NewWebhookReply; body: WebhookBody | WrappedWebhookBody }
  'GET /api/webhooks/{webhookId}': { reply: WebhookReply; body: never }
  'PUT /api/webhooks/{webhookId}': { reply: WebhookReply; body: WebhookBody | WrappedWebhookBody }
  'PATCH /api/webhooks/{webhookId}': {
    reply: WebhookReply
    body: PatchWebhookBody | WrappedPatchWebhookBody | JsonPatch
  }
  'DELETE /api/webhooks/{webhookId}': { reply: Done; body: never }
  'POST /api/webhooks/{webhookId}/test': { reply: WebhookDeliveryReply; body: never }
  'POST /api/webhooks/{webhookId}/rotate': { reply: RotateSecretReply; body: never }
  'GET /api/webhooks/{webhookId}/deliveries': { reply: WebhookDeliveryPage; body: never }
  'POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver': {
    reply: WebhookDeliveryReply
    body: never
  }
  'GET /api/stream': { reply: never; body: never }
  'GET /api/groups': { reply: GroupPage; body: never }
  'POST /api/groups': { reply: GroupReply; body: GroupBody }
  'GET /api/groups/{groupId}': { reply: GroupReply; body: never }
  'PUT /api/groups/{groupId}': { reply: GroupReply; body: GroupBody }
  'PATCH /api/groups/{groupId}': { reply: GroupReply; body: PatchGroupBody | JsonPatch }
  'DELETE /api/groups/{groupId}': { reply: Done; body: never }
  'GET /api/users/countries': { reply: ListCountriesReply; body: never }
  'GET /api/users/timeZones': { reply: ListTimeZonesReply; body: never }
  'GET /api/users': { reply: UserPage; body: never }
  'POST /api/users': { reply: UserReply; body: UserBody }
  'GET /api/users/{userId}': { reply: UserReply; body: never }
  'PUT /api/users/{userId}': { reply: UserReply; body: UserBody }
  'PATCH /api/users/{userId}': { reply: UserReply; body: PatchUserBody | JsonPatch }
  'DELETE /api/users/{userId}': { reply: Done; body: never }
  'POST /api/users/{userId}/invite': { reply: InviteUserReply; body: never }
  'GET /api/zones': { reply: ZonePage; body: never }
  'POST /api/zones': { reply: ZoneReply; body: ZoneBody | WrappedZoneBody }
  'GET /api/zones/{zoneId}': { reply: ZoneReply; body: never }
  'PUT /api/zones/{zoneId}': { reply: ZoneReply; body: ZoneBody | WrappedZoneBody }
  'PATCH /api/zones/{zoneId}': {
    reply: ZoneReply
    body: PatchZoneBody | WrappedPatchZoneBody | JsonPatch
  }
  'DELETE /api/zones/{zoneId}': { reply: Done; body: never }
  'GET /api/zones.geojson': { reply: ZoneCollection; body: never }
  'POST /api/zones.geojson': { reply: ImportedZones; body: ZoneImport }
  'GET /api/place': { reply: DescribePlaceReply; body: never }
  'GET /api/rules': { reply: RulePage; body: never }
  'POST /api/rules': { reply: RuleReply; body: RuleBody | WrappedRuleBody }
  'GET /api/rules/{ruleId}': { reply: RuleReply; body: never }
  'PUT /api/rules/{ruleId}': { reply: RuleReply; body: RuleBody | WrappedRuleBody }
  'PATCH /api/rules/{ruleId}': {
    reply: RuleReply
    body: PatchRuleBody | WrappedPatchRuleBody | JsonPatch
  }
  'DELETE /api/rules/{ruleId}': { reply: Done; body: never }
  'POST /api/rules/{ruleId}/test': { reply: TestRuleReply; body: RuleTest }
  'GET /api/watches': { reply: WatchPage; body: never }
  'POST /api/watches': { reply: NewWatchReply; body: WatchBody | WrappedWatchBody }
  'GET /api/watches/{watchId}': { reply: WatchReply; body: never }
  'PUT /api/watches/{watchId}': { reply: WatchReply; body: WatchBody | WrappedWatchBody }
  'PATCH /api/watches/{watchId}': {
    reply: WatchReply
    body: PatchWatchBody | WrappedPatchWatchBody | JsonPatch
  }
  'DELETE /api/watches/{watchId}': { reply: Done; body: never }
  'POST /api/watches/{watchId}/checkIn': { reply: WatchReply; body: never }
  'POST /api/watches/{watchId}/extend': { reply: WatchReply; body: WatchExtension }
  'POST /api/watches/{watchId}/complete': { reply: WatchReply; body: never }
  'POST /api/watches/{watchId}/cancel': { reply: WatchReply; body: never }
  'POST /api/watches/{watchId}/link': { reply: ShowWatchLinkReply; body: never }
  'GET /api/devices/{deviceId}/alerts': { reply: AlertPage; body: never }
  'POST /api/devices/{deviceId}/alerts': {
    reply: AlertPage | PostAlertsReply
    body: PostAlertsBody
  }
  'GET /api/devices/{deviceId}/trips': { reply: TripReply; body: never }
  'GET /api/devices/{deviceId}/stops': { reply: StopReply; body: never }
  'GET /api/devices/{deviceId}/summary': { reply: DaySummaryReply; body: never }
  'GET /api/alerts': { reply: AlertPage; body: never }
  'GET /api/alerts/{alertId}': { reply: AlertReply; body: never }
  'POST /api/alerts/{alertId}/acknowledge': { reply: AlertReply; body: never }
  'POST /api/alerts/{alertId}/resolve': { reply: AlertReply; body: ResolveAlertBody }
  'POST /api/alerts/{alertId}/cancel': { reply: AlertReply; body: ResolveAlertBody }
  'POST /api/alerts/{alertId}/reopen': { reply: AlertReply; body: ResolveAlertBody }
  'POST /api/alerts/{alertId}/notes': { reply: AlertReply; body: NoteAlertBody }
  'GET /api/sources/{sourceId}/unclaimed': { reply: ListUnclaimedReply; body: never }
  'POST /api/sources/{sourceId}/unclaimed/{identifier}/claim': {
    reply: ClaimIdentifierReply
    body: ClaimIdentifierBody
  }
  'DELETE /api/sources/{sourceId}/unclaimed/{identifier}': { reply: Done; body: never }
  'GET /api/sources/{sourceId}/failures': { reply: ListFailuresReply; body: never }
  'GET /api/sources/{sourceId}/failures/{payloadId}/raw': {
    reply: ReadRawPayloadReply
    body: never
  }
  'POST /api/sources/{sourceId}/replay': { reply: ReplayPayloadsReply; body: ReplayPayloadsBody }
  'GET /api/sources': { reply: SourcePage; body: never }
  'POST /api/sources': { reply: NewSourceReply; body: SourceBody | WrappedSourceBody }
  'GET /api/sources/{sourceId}': { reply: SourceReply; body: never }
  'PUT /api/sources/{sourceId}': { reply: SourceReply; body: SourceBody | WrappedSourceBody }
  'PATCH /api/sources/{sourceId}': {
    reply: SourceReply
    body: PatchSourceBody | WrappedPatchSourceBody | JsonPatch
  }
  'DELETE /api/sources/{sourceId}': { reply: Done; body: never }
  'POST /api/sources/decode': { reply: DecodePayloadReply; body: PastedPush }
  'POST /api/sources/{sourceId}/rotate': { reply: NewSourceReply; body: never }
  'GET /api/devices/{deviceId}/quarantine': { reply: ListQuarantineReply; body: never }
  'POST /api/devices/{deviceId}/quarantine/release': {
    reply: ReleaseQuarantineReply
    body: ReleaseQuarantineBody
  }
  'POST /api/devices/{deviceId}/quarantine/discard': {
    reply: DiscardQuarantineReply
    body: DiscardQuarantineBody
  }
  'POST /api/devices/{deviceId}/sendCommand': { reply: SendCommandReply; body: SendCommandBody }
  'GET /api/devices/{deviceId}/commandChannel': { reply: ReadCommandChannelReply; body: never }
  'PUT /api/devices/{deviceId}/commandChannel': {
    reply: SetCommandChannelReply
    body: SetCommandChannelBody
  }
  'GET /api/devices/{deviceId}/commands': { reply: CommandPage; body: never }
  'GET /api/devices/{deviceId}/commands/{commandId}': { reply: CommandReply; body: never }
  'GET /admin/audit': { reply: AuditEntryPage; body: never }
  'GET /admin/me': { reply: CurrentOperatorReply; body: never }
  'GET /admin/operators': { reply: OperatorPage; body: never }
  'POST /admin/operators': { reply: CreateOperatorReply; body: CreateOperatorBody }
  'GET /admin/operators/{operatorId}': { reply: OperatorReply; body: never }
  'PATCH /admin/operators/{operatorId}': {
    reply: OperatorReply
    body: PatchOperatorBody | WrappedPatchOperatorBody | JsonPatch
  }
  'DELETE /admin/operators/{operatorId}': { reply: Done; body: never }
  'POST /admin/operators/{operatorId}/regenerate': {
    reply: CreateOperatorReply
    body: RegenerateOperatorKeyBody
  }
  'GET /admin/health': { reply: ReadOperatorHealthReply; body: never }
  'GET /admin/metrics': { reply: ReadMetricsReply; body: never }
  'POST /admin/accounts/{accountId}/support': { reply: StartSupportReply; body: StartSupportBody }
  'DELETE /admin/accounts/{accountId}/support/{keyId}': { reply: Done; body: never }
  'GET /admin/usage': { reply: ListUsageReply; body: never }
  'GET /admin/accounts/{accountId}/usage': { reply: ReadOperatedUsageReply; body: never }
  'POST /admin/accounts/import': { reply: ImportProgress | ImportAccountReply; body: never }
  'POST /admin/accounts/{accountId}/export': { reply: never; body: never }
  'GET /admin/accounts': { reply: OperatedAccountPage; body: never }
  'POST /admin/accounts': { reply: CreateAccountReply; body: CreateAccountBody }
  'GET /admin/accounts/{accountId}': { reply: OperatedAccountReply; body: never }
  'PATCH /admin/accounts/{accountId}': {
    reply: OperatedAccountReply
    body: PatchOperatedAccountBody | WrappedPatchOperatedAccountBody | JsonPatch
  }
  'DELETE /admin/accounts/{accountId}': { reply: Done; body: DeleteAccountBody }
  'POST /admin/accounts/{accountId}/undelete': { reply: OperatedAccountReply; body: never }
  'POST /admin/accounts/{accountId}/keys': { reply: NewKeyReply; body: CreateAccountKeyBody }
  'POST /admin/accounts/{accountId}/restore': { reply: RestoreLedgerReply; body: RestoreLedgerBody }
  'POST /admin/accounts/{accountId}/reconcile': {
    reply: ReconcileAccountReply
    body: ReconcileAccountBody
  }
  'POST /admin/cells/{cell}/reconcile': { reply: ReconcileCellReply; body: ReconcileAccountBody }
  'GET /admin/accounts/{accountId}/move': { reply: MoveAccountReply; body: never }
  'POST /admin/accounts/{accountId}/move': { reply: MoveAccountReply; body: MoveAccountBody }
  'DELETE /admin/accounts/{accountId}/move': { reply: MoveAccountReply; body: never }
  'POST /admin/push/rotateKey': { reply: RotatePushKeyReply; body: never }
}
