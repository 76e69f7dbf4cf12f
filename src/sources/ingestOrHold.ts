import { selectAdministrators, toAdministrators } from '../db/queries/recipients.ts'
import { readAll } from '../db/statement.ts'
import { DEFAULT_MAX_SPEED, type DeviceRecord } from '../domain/account/device.ts'
import type { AlertItem, SourceItem } from '../domain/account/source.ts'
import { SOS } from '../domain/message/alert.ts'
import { base32, base32Time } from '../domain/text/base32.ts'
import { fold } from '../domain/text/fold.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { type Ingest, ingest } from './ingest.ts'
import type { StoredSource } from './store.ts'
import { holdItems } from './unclaimed/unclaimed.ts'

/* Items of identifiers that no device has: a new device takes them, or they wait to be claimed. */

const recordFor = (identifier: string, { name }: StoredSource): DeviceRecord => ({
  name: identifier,
  description: `Created by the source ${name}.`,
  min: '',
  identifier,
  model: '',
  tags: {},
  limits: { expires: false, expirationDate: null, dailyEmailLimit: 100, dailySmsLimit: 20 },
  maxSpeed: DEFAULT_MAX_SPEED,
})

/** Creates devices as far as licenses and the source's daily number allow; true if any exists now. */
const createDevices = async (
  c: Context,
  source: StoredSource,
  items: SourceItem[],
): Promise<boolean> => {
  const ledger = ledgerOf(c.env, c.get('principal').accountId)
  const identifiers = new Map(items.map(({ identifier }) => [fold(identifier), identifier]))
  let isAnyNew = false
  for (const identifier of identifiers.values()) {
    const id = await c.get('newId')('dev')
    const record = recordFor(identifier, source)
    const outcome = await ledger.createDeviceForSource({ sourceId: source.id, id, record })
    // Another push may have created it at the same time.
    if (outcome?.ok || outcome?.refusal === 'identifier-taken') isAnyNew = true
    else break
  }
  return isAnyNew
}

const noticeId = async (sourceId: string, { identifier, key, dateTime }: AlertItem) => {
  const bytes = new TextEncoder().encode(`unclaimed ${sourceId} ${fold(identifier)} ${key}`)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `ntc_${base32Time(dateTime)}${base32(digest, 13)}`
}

const MAX_NOTICES = 100

/** An SOS of an unknown device must reach a person: the account's administrators. */
const notifyOfEmergencies = async (
  c: Context,
  source: StoredSource,
  items: SourceItem[],
  now: number,
): Promise<void> => {
  // One of each identifier: trackers repeat the flag. Beyond the bound the day's limit is reached.
  const byIdentifier = new Map<string, AlertItem>()
  for (const item of items)
    if (item.kind === 'alert' && item.alertName === SOS && !byIdentifier.has(fold(item.identifier)))
      byIdentifier.set(fold(item.identifier), item)
  const emergencies = [...byIdentifier.values()].slice(0, MAX_NOTICES)
  if (emergencies.length === 0) return
  const { accountId } = c.get('principal')
  const rows = await readAll(selectAdministrators(c.get('db'), { accountId, deviceId: '', now }))
  for (const item of emergencies) {
    const outcome = await ledgerOf(c.env, accountId).sendNotice({
      id: await noticeId(source.id, item),
      content: {
        kind: 'unclaimed-sos',
        sourceName: source.name,
        identifier: item.identifier,
        dateTime: item.dateTime,
        latitude: item.latitude,
        longitude: item.longitude,
      },
      recipients: toAdministrators(rows),
      isUrgent: true,
    })
    if (!outcome.ok) throw new Problem('unavailable')
  }
}

/** Stores everything: known devices' items at their devices, all others as unclaimed. */
export const ingestOrHold = async (
  c: Context,
  source: StoredSource,
  { items, ...given }: Omit<Ingest, 'sourceId'>,
): Promise<void> => {
  const { now } = given
  const push = { ...given, sourceId: source.id }
  let unknown = await ingest(c, { ...push, items })
  if (unknown.length > 0 && source.newDevices === 'create')
    if (await createDevices(c, source, unknown))
      unknown = await ingest(c, { ...push, items: unknown })
  if (unknown.length === 0) return
  const { accountId } = c.get('principal')
  await holdItems(c.get('db'), { accountId, sourceId: source.id }, unknown, now)
  await notifyOfEmergencies(c, source, unknown, now)
}
