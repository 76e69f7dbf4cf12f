import { env, exports } from 'cloudflare:workers'
import type { Scope } from '../../../src/domain/account/scope.ts'
import { START } from '../../../src/domain/admin/move.ts'
import type { ProblemCode } from '../../../src/http/contract/problem.ts'
import { openAccount, openSandbox, type TestAccount } from '../../support/accounts.ts'
import { makeBrowser, PUSH_PATH } from '../../support/alerts/push.ts'
import { call, callAsOperator, ORIGIN } from '../../support/http.ts'
import {
  createSignInUser,
  credentialsOf,
  makeLink,
  PASSWORD,
  signIn,
} from '../../support/sessions.ts'
import { createUser } from '../../support/users.ts'
import { startClient } from '../oauth/agent.ts'

/*
 * One row for each operation, by the `id` of its contract: how to make a request that succeeds.
 * The suite changes that request in many ways, so a row is all that a new route needs to be tested.
 * A route without a row fails, and so does a row without a route. The members of a row:
 *
 *   params  creates what the path's parameters name, in the account given. It is called for every
 *           request, and for the other account when one asks for the other's resources.
 *   body    a valid body: one object without wrapper, with at least one member. A patch is a merge
 *           patch.
 *   headers what the request needs beside its token, such as a cookie.
 *   query   what a GET needs, such as `?from=…&to=…`.
 *   scope   the scope that this request needs, if the contract names those of several kinds.
 *   user    whether the token must be of a user: then `token` of the accounts is that of one.
 *   person  whether the token must be of a session: then no key may make this request.
 *   refused the problem that even a valid request gets on a local server.
 */
export interface Sample {
  params?: (owner: TestAccount) => Promise<Record<string, string>>
  body?: (owner: TestAccount, params: Record<string, string>) => unknown | Promise<unknown>
  headers?: (owner: TestAccount) => Promise<Record<string, string>>
  query?: string
  scope?: Scope | Scope[]
  user?: true
  person?: true
  refused?: ProblemCode
}

const makeKey = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/account/keys', {
    body: { name: 'Sample', scopes: ['read'] },
  })
  return { keyId: body.key.id as string }
}

const makeDevice = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/devices', { body: { name: 'Sample' } })
  return { deviceId: body.device.id as string }
}

const makeDeletedDevice = async (owner: TestAccount) => {
  const device = await makeDevice(owner)
  await owner.call('DELETE', `/api/devices/${device.deviceId}`)
  return device
}

const newLocation = () => ({
  dateTime: new Date().toISOString(),
  latitude: 38.7223,
  longitude: -9.1393,
})

const makeTrack = async (owner: TestAccount) => {
  const device = await makeDevice(owner)
  await owner.call('POST', `/api/devices/${device.deviceId}/locations`, {
    body: { location: newLocation() },
  })
  return device
}

const MONTH = '?from=2026-11-01T00:00:00Z&to=2026-11-30T00:00:00Z'

const makeGroup = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/groups', { body: { name: `Sample ${unique()}` } })
  return { groupId: body.id as string }
}

const newUser = () => ({
  name: 'Ana Sousa',
  email: `ana-${unique()}@example.com`,
  country: 'PRT',
  timeZone: 'Europe/Lisbon',
})

const makeUser = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/users', { body: newUser() })
  return { userId: body.id as string }
}

const makeCredentials = async (owner: TestAccount) => {
  const user = await createSignInUser(owner)
  return credentialsOf(owner, user)
}

const makeSession = async (owner: TestAccount) => {
  const { sessionId } = await signIn(owner, await createSignInUser(owner))
  return { sessionId }
}

const makeCookie = async (owner: TestAccount) => {
  const { cookie } = await signIn(owner, await createSignInUser(owner))
  return { Cookie: cookie, Origin: ORIGIN }
}

const newConsent = async () => ({ query: (await startClient()).query, scopes: ['read'] })

const newSubscription = async () => (await makeBrowser()).subscription

const makeSubscription = async ({ token }: TestAccount) => {
  const { body } = await call('POST', PUSH_PATH, { token, body: await newSubscription() })
  return { subscriptionId: body.pushSubscription.id as string }
}

/** Without notifications: sending them would change rows after the reply. */
const silentAlert = {
  alertName: 'LowBattery',
  text: 'At 9 %',
  latitude: 38.7223,
  longitude: -9.1393,
  notifications: [],
}

const makeAlert = async (owner: TestAccount) => {
  const { deviceId } = await makeDevice(owner)
  const { body } = await owner.call('POST', `/api/devices/${deviceId}/alerts`, {
    body: silentAlert,
  })
  return { alertId: body.alert.id as string }
}

const makeAcknowledgedAlert = async (owner: TestAccount) => {
  const alert = await makeAlert(owner)
  await owner.call('POST', `/api/alerts/${alert.alertId}/acknowledge`)
  return alert
}

/** A message that a daily limit suppressed; the limit is raised afterwards. */
const makeSuppressedMessage = async (owner: TestAccount) => {
  await makeUser(owner)
  const limited = { name: 'Sample', limits: { dailyEmailLimit: 0 } }
  const { device } = (await owner.call('POST', '/api/devices', { body: limited })).body
  const { alert } = (
    await owner.call('POST', `/api/devices/${device.id}/alerts`, {
      body: { alertName: 'LowBattery' },
    })
  ).body
  await owner.call('PATCH', `/api/devices/${device.id}`, {
    body: { limits: { dailyEmailLimit: 100 } },
  })
  return { messageId: alert.deliveries[0].id as string }
}

const RECEIVER = 'https://receiver.example/every-route/ok'

const makeWebhook = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/webhooks', {
    body: { url: RECEIVER, events: ['alert.*'] },
  })
  return { webhookId: body.webhook.id as string }
}

const makeDelivery = async (owner: TestAccount) => {
  const { webhookId } = await makeWebhook(owner)
  const { body } = await owner.call('POST', `/api/webhooks/${webhookId}/test`)
  return { webhookId, deliveryId: body.delivery.id as string }
}

const makeSource = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/sources', {
    body: { name: 'Sample', provider: 'osmand' },
  })
  return { sourceId: body.source.id as string, url: body.url as string }
}

const pushTo = (url: string, query: string) =>
  exports.default.fetch(`https://perigee.test${new URL(url).pathname}?${query}`)

const makeUnclaimed = async (owner: TestAccount) => {
  const { sourceId, url } = await makeSource(owner)
  const identifier = `sample-${unique()}`
  await pushTo(url, `id=${identifier}&lat=1&lon=2`)
  return { sourceId, identifier }
}

const makeFailure = async (owner: TestAccount) => {
  const { sourceId, url } = await makeSource(owner)
  await pushTo(url, 'lat=1')
  const { body } = await owner.call('GET', `/api/sources/${sourceId}/failures`)
  return { sourceId, payloadId: body.failures[0].id as string }
}

const onlySource = async (owner: TestAccount) => ({ sourceId: (await makeSource(owner)).sourceId })

const makeQuarantine = async (owner: TestAccount) => {
  const { url } = await makeSource(owner)
  const identifier = `sample-${unique()}`
  const made = { name: 'Sample', identifier }
  const { device } = (await owner.call('POST', '/api/devices', { body: made })).body
  await pushTo(url, `id=${identifier}&lat=0&lon=0`)
  return { deviceId: device.id as string }
}

const makeCommand = async (owner: TestAccount) => {
  const made = { name: 'Sample', min: '+881632000000' }
  const { device } = (await owner.call('POST', '/api/devices', { body: made })).body
  const { body } = await owner.call('POST', `/api/devices/${device.id}/sendCommand`, {
    body: { command: 'Hello', sms: true },
  })
  return { deviceId: device.id as string, commandId: body.command.id as string }
}

const makeReachable = async (owner: TestAccount) => {
  const made = { name: 'Sample', min: '+881632000000' }
  const { device } = (await owner.call('POST', '/api/devices', { body: made })).body
  return { deviceId: device.id as string }
}

const makeAccount = async () => ({ accountId: (await openAccount()).id })

const makeSupport = async () => {
  const { accountId } = await makeAccount()
  const path = `/admin/accounts/${accountId}/support`
  const { body } = await callAsOperator('POST', path, { body: { reason: 'Ticket 4711' } })
  return { accountId, keyId: body.support.id as string }
}

const makeOperator = async () => {
  const { body } = await callAsOperator('POST', '/admin/operators', { body: newOperator() })
  return { operatorId: body.operator.id as string }
}

/** One that nobody works on. */
const makeMove = async () => {
  const params = await makeAccount()
  const row = "VALUES (?, 0, 1, 'copying', ?, '', 0, 1, 1, NULL)"
  const columns =
    'account_id, from_cell, to_cell, step, position, lease, leased_until, creation, changed, fault'
  await env.DB.prepare(`INSERT INTO moves (${columns}) ${row}`)
    .bind(params.accountId, JSON.stringify(START))
    .run()
  return params
}

const newOperator = () => ({ name: 'Ana Sousa', role: 'support', email: `${unique()}@example.com` })

const makeDeletedAccount = async () => {
  const account = await makeAccount()
  await callAsOperator('DELETE', `/admin/accounts/${account.accountId}`)
  return account
}

const makeSandbox = async () => ({ accountId: (await openSandbox()).id })

/** An account has a few at most, and the tests open more. */
const forgetSandboxes = async () => {
  await env.DB.prepare('UPDATE directory SET sandbox_of = NULL').run()
  return {}
}

const unique = () => crypto.randomUUID().slice(0, 8)

const newZone = () => ({
  name: `Harbour ${unique()}`,
  color: '#ff0000',
  shape: { type: 'Circle', center: [-9.1393, 38.7223], radius: 500 },
})

const makeZone = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/zones', { body: newZone() })
  return { zoneId: body.zone.id as string }
}

const newRule = () => ({
  name: `Rule ${unique()}`,
  when: { type: 'speed', above: 90 },
  schedule: [{ days: ['mon'], from: '20:00', to: '06:00' }],
})

const makeRule = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/rules', { body: newRule() })
  return { ruleId: body.rule.id as string }
}

const newWatch = async (owner: TestAccount) => ({
  name: `Watch ${unique()}`,
  ...(await makeDevice(owner)),
  everyMinutes: 60,
  remindMinutes: 10,
})

const makeWatch = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/watches', { body: await newWatch(owner) })
  return { watchId: body.watch.id as string }
}

const newShare = async (owner: TestAccount) => ({
  name: `Share ${unique()}`,
  devices: [(await makeDevice(owner)).deviceId],
  history: 24,
})

const makeShare = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/shares', { body: await newShare(owner) })
  return { shareId: body.share.id as string }
}

export const SAMPLES: Record<string, Sample> = {
  readHealth: {},
  readOperatorHealth: {},
  readMetrics: { query: '?format=json' },
  readOpenApi: {},
  getToken: { body: ({ userName, apiKey }) => ({ userName, apiKey }) },

  signIn: { body: makeCredentials },
  refresh: { headers: makeCookie },
  signOut: { headers: makeCookie, body: () => ({ everywhere: false }) },
  listSessions: {},
  endSession: { params: makeSession, scope: 'admin' },
  readConsent: { person: true, query: '?query=client_id', refused: 'invalid-authorization' },
  decideConsent: { person: true, body: newConsent },
  inviteUser: { params: makeUser },
  requestReset: { body: ({ userName }) => ({ account: userName, email: 'ana@example.com' }) },
  setPassword: {
    body: async (owner) => ({
      link: await makeLink(owner, await createUser(owner, newUser())),
      password: PASSWORD,
    }),
  },
  readMe: {},
  listPushSubscriptions: { user: true },
  createPushSubscription: { user: true, body: newSubscription },
  deletePushSubscription: { user: true, params: makeSubscription },
  readPushKey: {},
  rotatePushKey: {},

  readAccount: {},
  patchAccount: { body: () => ({ name: `Renamed ${unique()}` }) },

  readLicenseLog: {},
  readAccountUsage: {},
  readOperatedUsage: { params: makeAccount },
  listUsage: { query: '?month=2026-10' },

  reportLocations: {
    body: () => ({ locations: [{ identifier: `sample-${unique()}`, ...newLocation() }] }),
  },
  listSources: {},
  createSource: { body: () => ({ name: 'Fleet', provider: 'garmin' }) },
  readSource: { params: onlySource },
  replaceSource: { params: onlySource, body: () => ({ name: 'Fleet', provider: 'spot' }) },
  patchSource: { params: onlySource, body: () => ({ keepRaw: true }) },
  deleteSource: { params: onlySource },
  rotateSource: { params: onlySource },
  listUnclaimed: { params: onlySource },
  claimIdentifier: { params: makeUnclaimed, body: () => ({ device: { name: 'Claimed' } }) },
  discardIdentifier: { params: makeUnclaimed },
  listFailures: { params: onlySource },
  readRawPayload: { params: makeFailure },
  replayPayloads: {
    params: onlySource,
    body: () => ({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  },
  listQuarantine: { params: makeQuarantine },
  releaseQuarantine: { params: makeQuarantine, body: () => ({ ids: ['qua_none'] }) },
  discardQuarantine: { params: makeQuarantine, body: () => ({ ids: ['qua_none'] }) },
  sendCommand: { params: makeReachable, body: () => ({ command: 'Hello', sms: true }) },
  readCommandChannel: { params: makeDevice },
  setCommandChannel: { params: makeDevice, body: onlySource },
  listCommands: { params: makeCommand },
  readCommand: { params: makeCommand },
  decodePayload: {
    body: () => ({ provider: 'osmand', query: 'id=7&lat=60.0&lon=30.0' }),
  },

  readSelf: {},
  listOperators: {},
  createOperator: { body: newOperator },
  readOperator: { params: makeOperator },
  patchOperator: { params: makeOperator, body: () => ({ name: unique() }) },
  deleteOperator: { params: makeOperator },
  regenerateOperatorKey: { params: makeOperator, body: () => ({ overlapSeconds: 60 }) },
  startSupport: { params: makeAccount, body: () => ({ reason: 'Ticket 4711' }) },
  endSupport: { params: makeSupport },

  listKeys: {},
  createKey: {
    body: () => ({
      name: 'Dispatch',
      scopes: ['read', 'ingest'],
      expires: '2099-01-01T02:00:00+02:00',
    }),
  },
  readKey: { params: makeKey },
  deleteKey: { params: makeKey },
  regenerateKey: { params: makeKey, body: () => ({ overlapSeconds: 60 }) },

  listDevices: {},
  createDevice: {
    body: () => ({
      name: 'Tern 7',
      tags: { fleet: 'north' },
      limits: { expires: true, expirationDate: '2099-01-01' },
    }),
  },
  readDevice: { params: makeDevice },
  replaceDevice: {
    params: makeDevice,
    body: () => ({ name: `Tern ${unique()}`, identifier: unique() }),
  },
  patchDevice: { params: makeDevice, body: () => ({ name: `Tern ${unique()}` }) },
  deleteDevice: { params: makeDevice },
  restoreDevice: { params: makeDeletedDevice },
  reactivateDevice: { params: makeDevice, body: () => ({ expirationDate: '2099-01-01' }) },
  readUsage: { params: makeDevice },

  readLastLocation: { params: makeTrack },
  postLocations: { params: makeDevice, body: newLocation, scope: ['ingest', 'write'] },
  listLocations: { params: makeTrack },
  listTrips: { params: makeTrack, query: MONTH },
  listStops: { params: makeTrack, query: MONTH },
  readSummary: { params: makeTrack, query: MONTH },

  postAlerts: { params: makeDevice, body: () => silentAlert, scope: ['ingest', 'write'] },
  listDeviceAlerts: { params: makeDevice, query: '?from=2026-01-01T00:00:00Z&alertName=SOSButton' },
  listAlerts: { query: '?sort=dateTime' },
  readAlert: { params: makeAlert },
  acknowledgeAlert: { params: makeAlert },
  cancelAlert: { params: makeAlert },
  resolveAlert: { params: makeAlert, body: () => ({ note: 'Found, all well.' }) },
  reopenAlert: { params: makeAcknowledgedAlert },
  noteAlert: { params: makeAlert, body: () => ({ text: 'Helicopter on its way.' }) },
  listMessages: { query: '?status=failed' },
  retryMessage: { params: makeSuppressedMessage },

  listGroups: { query: '?q=s' },
  createGroup: { body: () => ({ name: `North ${unique()}`, description: 'Ships', devices: [] }) },
  readGroup: { params: makeGroup },
  replaceGroup: { params: makeGroup, body: () => ({ name: `South ${unique()}` }) },
  patchGroup: { params: makeGroup, body: () => ({ description: unique() }) },
  deleteGroup: { params: makeGroup },

  listCountries: {},
  listTimeZones: {},
  listUsers: { query: '?q=a' },
  createUser: {
    body: () => ({
      ...newUser(),
      password: 'correct horse',
      tags: { shift: 'night' },
      notify: { sms: true },
    }),
  },
  readUser: { params: makeUser },
  replaceUser: { params: makeUser, body: () => ({ ...newUser(), phone: '+881632000000' }) },
  patchUser: { params: makeUser, body: () => ({ message: unique(), password: 'correct horse' }) },
  deleteUser: { params: makeUser },

  listZones: {},
  createZone: { body: newZone },
  exportZones: {},
  describePlace: { query: '?latitude=38.7223&longitude=-9.1393' },
  importZones: {
    body: () => ({
      type: 'FeatureCollection',
      features: [
        {
          type: 'Feature',
          geometry: { type: 'Point', coordinates: [-9.1393, 38.7223] },
          properties: { name: 'Harbour', radius: 500 },
        },
      ],
    }),
  },
  readZone: { params: makeZone },
  replaceZone: { params: makeZone, body: newZone },
  patchZone: { params: makeZone, body: () => ({ name: unique() }) },
  deleteZone: { params: makeZone },
  listRules: {},
  createRule: { body: newRule },
  readRule: { params: makeRule },
  replaceRule: { params: makeRule, body: newRule },
  patchRule: { params: makeRule, body: () => ({ name: unique() }) },
  deleteRule: { params: makeRule },
  testRule: {
    params: makeRule,
    body: async (owner) => ({
      ...(await makeDevice(owner)),
      from: '2026-11-01T00:00:00Z',
      to: '2026-11-30T00:00:00Z',
    }),
  },

  listWatches: { query: '?state=active' },
  createWatch: { body: newWatch },
  readWatch: { params: makeWatch },
  replaceWatch: { params: makeWatch, body: newWatch },
  patchWatch: { params: makeWatch, body: () => ({ name: unique() }) },
  deleteWatch: { params: makeWatch },
  checkInWatch: { params: makeWatch },
  extendWatch: { params: makeWatch, body: () => ({ due: '2099-03-03T18:00:00Z' }) },
  completeWatch: { params: makeWatch },
  cancelWatch: { params: makeWatch },
  showWatchLink: { params: makeWatch },

  listShares: {},
  createShare: { body: newShare },
  readShare: { params: makeShare },
  replaceShare: { params: makeShare, body: newShare },
  patchShare: { params: makeShare, body: () => ({ name: unique() }) },
  deleteShare: { params: makeShare },

  listEvents: { query: '?after=1&types=key.*,device.created' },
  listWebhooks: {},
  createWebhook: {
    body: () => ({
      url: `${RECEIVER}?${unique()}`,
      events: ['device.*', 'alert.raised'],
      enabled: false,
    }),
  },
  readWebhook: { params: makeWebhook },
  replaceWebhook: { params: makeWebhook, body: () => ({ url: RECEIVER, description: unique() }) },
  patchWebhook: { params: makeWebhook, body: () => ({ description: unique() }) },
  deleteWebhook: { params: makeWebhook },
  testWebhook: { params: makeWebhook },
  rotateSecret: { params: makeWebhook },
  listDeliveries: { params: makeDelivery },
  redeliver: { params: makeDelivery },

  listAudit: { query: '?resource=device' },
  listAllAudit: { query: '?action=account' },
  listAccounts: { query: '?limit=5' },
  createAccount: {
    body: () => ({
      userName: `every-route-${unique()}`,
      name: 'Every route',
      licenses: 1,
      timeZone: 'UTC',
    }),
  },
  readOperatedAccount: { params: makeAccount },
  patchOperatedAccount: { params: makeAccount, body: () => ({ licenses: 7 }) },
  deleteAccount: { params: makeAccount },
  undeleteAccount: { params: makeDeletedAccount },
  keepAccount: { params: makeSandbox },
  listSandboxes: {},
  openSandbox: { body: forgetSandboxes },
  keepSandbox: { refused: 'not-a-sandbox' },
  exportAccount: {},
  exportOperatedAccount: { params: makeAccount },
  // The archive of test/worker/archive.test.ts is no JSON.
  importAccount: { refused: 'invalid-archive' },
  createAccountKey: {
    params: makeAccount,
    body: () => ({ name: 'Locked out', scopes: ['write'] }),
  },
  moveAccount: { params: makeAccount, body: () => ({ cell: 1 }) },
  readMove: { params: makeMove },
  cancelMove: { params: makeMove },
  restoreLedger: {
    params: makeAccount,
    body: () => ({ time: new Date().toISOString() }),
    refused: 'history-unavailable',
  },
  reconcileAccount: { params: makeAccount, body: () => ({ restored: false }) },
  reconcileCell: { params: async () => ({ cell: '1' }), body: () => ({ restored: false }) },
}
