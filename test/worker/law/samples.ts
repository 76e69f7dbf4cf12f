import type { Scope } from '../../../src/domain/scope.ts'
import type { ProblemCode } from '../../../src/http/problem.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'

/*
 * One row for each operation, by the `id` of its contract: how to make a request of it that succeeds.
 * The laws bend that request in every way they know, so a new route is held to all of them by its row alone.
 * A route without a row fails the suite, and so does a row without a route. To add one:
 *
 *   params  makes, in the account given, what the path's parameters name. It is called anew for each request that
 *           changes or deletes, and for two accounts where one asks for what is the other's.
 *   body    a body that is accepted for these parameters: one object, bare, with at least one member. A patch is given as a merge patch.
 *   query   what a GET cannot do without, such as `?from=…&to=…`.
 *   scope   what this very request wants, where the contract names the scopes of several kinds of request.
 *   refused the problem that even a good request meets here, where only the real platform can grant it.
 */
export interface Sample {
  params?: (owner: TestAccount) => Promise<Record<string, string>>
  body?: (owner: TestAccount, params: Record<string, string>) => unknown
  query?: string
  scope?: Scope | Scope[]
  refused?: ProblemCode
}

const someKey = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/account/keys', {
    body: { name: 'Sample', scopes: ['read'] },
  })
  return { keyId: body.key.id as string }
}

const someDevice = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/devices', { body: { name: 'Sample' } })
  return { deviceId: body.device.id as string }
}

const somewhere = () => ({
  dateTime: new Date().toISOString(),
  latitude: 38.7223,
  longitude: -9.1393,
})

const someTrack = async (owner: TestAccount) => {
  const device = await someDevice(owner)
  await owner.call('POST', `/api/devices/${device.deviceId}/locations`, {
    body: { location: somewhere() },
  })
  return device
}

const someGroup = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/groups', { body: { name: `Sample ${fresh()}` } })
  return { groupId: body.id as string }
}

const person = () => ({
  name: 'Ana Sousa',
  email: `ana-${fresh()}@example.com`,
  country: 'PRT',
  timeZone: 'Europe/Lisbon',
})

const someUser = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/users', { body: person() })
  return { userId: body.id as string }
}

/** Without anyone to tell: what the alarm does afterwards would change rows that a law has just counted. */
const quiet = {
  alertName: 'LowBattery',
  text: 'At 9 %',
  latitude: 38.7223,
  longitude: -9.1393,
  notifications: [],
}

const someAlert = async (owner: TestAccount) => {
  const { deviceId } = await someDevice(owner)
  const { body } = await owner.call('POST', `/api/devices/${deviceId}/alerts`, { body: quiet })
  return { alertId: body.alert.id as string }
}

/** One that a limit held back, which was raised since. */
const someHeldBackMessage = async (owner: TestAccount) => {
  await someUser(owner)
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

const RECEIVER = 'https://receiver.example/law/ok'

const someWebhook = async (owner: TestAccount) => {
  const { body } = await owner.call('POST', '/api/webhooks', {
    body: { url: RECEIVER, events: ['alert.*'] },
  })
  return { webhookId: body.webhook.id as string }
}

const someDelivery = async (owner: TestAccount) => {
  const { webhookId } = await someWebhook(owner)
  const { body } = await owner.call('POST', `/api/webhooks/${webhookId}/test`)
  return { webhookId, deliveryId: body.delivery.id as string }
}

const someAccount = async () => ({ accountId: (await openAccount()).id })

const fresh = () => crypto.randomUUID().slice(0, 8)

export const SAMPLES: Record<string, Sample> = {
  readHealth: {},
  readOpenApi: {},
  getToken: { body: ({ userName, apiKey }) => ({ userName, apiKey }) },

  readAccount: {},
  patchAccount: { body: () => ({ name: `Renamed ${fresh()}` }) },

  readLicenseLog: {},

  listKeys: {},
  createKey: {
    body: () => ({
      name: 'Dispatch',
      scopes: ['read', 'ingest'],
      expires: '2099-01-01T02:00:00+02:00',
    }),
  },
  deleteKey: { params: someKey },
  regenerateKey: { params: someKey, body: () => ({ overlapSeconds: 60 }) },

  listDevices: {},
  createDevice: {
    body: () => ({
      name: 'Tern 7',
      tags: { fleet: 'north' },
      limits: { expires: true, expirationDate: '2099-01-01' },
    }),
  },
  readDevice: { params: someDevice },
  replaceDevice: {
    params: someDevice,
    body: () => ({ name: `Tern ${fresh()}`, identifier: fresh() }),
  },
  patchDevice: { params: someDevice, body: () => ({ name: `Tern ${fresh()}` }) },
  deleteDevice: { params: someDevice },
  reactivateDevice: { params: someDevice, body: () => ({ expirationDate: '2099-01-01' }) },
  readUsage: { params: someDevice },

  readLastLocation: { params: someTrack },
  postLocations: { params: someDevice, body: somewhere, scope: ['ingest', 'write'] },
  listLocations: { params: someTrack },

  postAlerts: { params: someDevice, body: () => quiet, scope: ['ingest', 'write'] },
  listDeviceAlerts: { params: someDevice, query: '?from=2026-01-01T00:00:00Z&alertName=SOSButton' },
  listAlerts: { query: '?sort=dateTime' },
  readAlert: { params: someAlert },
  acknowledgeAlert: { params: someAlert },
  listMessages: { query: '?status=failed' },
  retryMessage: { params: someHeldBackMessage },

  listGroups: { query: '?q=s' },
  createGroup: { body: () => ({ name: `North ${fresh()}`, description: 'Ships', devices: [] }) },
  readGroup: { params: someGroup },
  replaceGroup: { params: someGroup, body: () => ({ name: `South ${fresh()}` }) },
  patchGroup: { params: someGroup, body: () => ({ description: fresh() }) },
  deleteGroup: { params: someGroup },

  listCountries: {},
  listTimeZones: {},
  listUsers: { query: '?q=a' },
  createUser: {
    body: () => ({
      ...person(),
      password: 'correct horse',
      tags: { shift: 'night' },
      notify: { sms: true },
    }),
  },
  readUser: { params: someUser },
  replaceUser: { params: someUser, body: () => ({ ...person(), phone: '+881632000000' }) },
  patchUser: { params: someUser, body: () => ({ message: fresh(), password: 'correct horse' }) },
  deleteUser: { params: someUser },

  listEvents: { query: '?after=1&types=key.*,device.created' },
  listWebhooks: {},
  createWebhook: {
    body: () => ({
      url: `${RECEIVER}?${fresh()}`,
      events: ['device.*', 'alert.raised'],
      enabled: false,
    }),
  },
  readWebhook: { params: someWebhook },
  replaceWebhook: { params: someWebhook, body: () => ({ url: RECEIVER, description: fresh() }) },
  patchWebhook: { params: someWebhook, body: () => ({ description: fresh() }) },
  deleteWebhook: { params: someWebhook },
  testWebhook: { params: someWebhook },
  rotateSecret: { params: someWebhook },
  listDeliveries: { params: someDelivery },
  redeliver: { params: someDelivery },

  listAccounts: { query: '?limit=5' },
  createAccount: {
    body: () => ({ userName: `law-${fresh()}`, name: 'Law', licenses: 1, timeZone: 'UTC' }),
  },
  readOperatedAccount: { params: someAccount },
  patchOperatedAccount: { params: someAccount, body: () => ({ licenses: 7 }) },
  deleteAccount: { params: someAccount },
  createAccountKey: {
    params: someAccount,
    body: () => ({ name: 'Locked out', scopes: ['write'] }),
  },
  restoreLedger: {
    params: someAccount,
    body: () => ({ time: new Date().toISOString() }),
    refused: 'history-unavailable',
  },
  reconcileAccount: { params: someAccount, body: () => ({ restored: false }) },
  reconcileCell: { params: async () => ({ cell: '1' }), body: () => ({ restored: false }) },
}
