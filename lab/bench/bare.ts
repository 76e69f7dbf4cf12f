// The bare Worker that the API is measured against: the same statements on the same data and
// nothing else.
// No token, no checks, no rate limit, no log line; bodies arrive packed and rows are returned as
// they are.

import { openCell } from '../../src/db/open.ts'
import { readAlertContext } from '../../src/db/queries/alertContext.ts'
import { listDevices } from '../../src/devices/list.ts'
import { findDevice } from '../../src/devices/store.ts'
import type { Env } from '../../src/env.ts'
import { AccountFeed } from '../../src/feed/feed.ts'
import { updateGroup } from '../../src/groups/edit.ts'
import { findGroup } from '../../src/groups/store.ts'
import { newId } from '../../src/ids.ts'
import { AccountLedger } from '../../src/ledger/ledger.ts'
import { ledgerOf } from '../../src/ledger/stub.ts'
import { findLastLocation, readFirstPage } from '../../src/locations/store.ts'
import { searchDirectory } from '../../src/tokens/store.ts'
import {
  prepareAgain,
  type RecordedStatement,
  recordStatements,
  reportStatements,
} from './statements.ts'

export { AccountFeed, AccountLedger }

const viewer = { accountId: 'ACCOUNT', groupId: null }
const device = { ...viewer, deviceId: 'ID' }
const wholeTrack = { ...device, from: 0, to: Date.UTC(9999, 0, 1), limit: 1000 }
const listing = { sort: 'name' as const, after: [], limit: 100 }

/** Reads, by name. Their statements are recorded once and then only run. */
const READS: Record<string, Promise<RecordedStatement[]>> = {
  token: recordStatements((db) => searchDirectory(db, { userNameKey: 'ID', keyId: 'KEY' })),
  device: recordStatements((db) => findDevice(db, viewer, 'ID', 0)),
  devices: recordStatements((db) => listDevices(db, viewer, listing, 0)),
  lastLocation: recordStatements((db) => findLastLocation(db, device)),
  history: recordStatements((db) => readFirstPage(db, wholeTrack)),
}

const CREATOR = { userId: null, groupId: null, cap: null }
const RECORD = {
  name: 'Tern',
  description: '',
  min: '',
  identifier: null,
  model: '',
  tags: {},
  limits: { expires: false, expirationDate: null, dailyEmailLimit: 100, dailySmsLimit: 20 },
}

type Write = (env: Env, accountId: string, id: string, body: string) => Promise<unknown>

const WRITES: Record<string, Write> = {
  report: async ({ DB: db }, accountId, id, packed) =>
    (await db.batch(await reportStatements(db, accountId, id, packed)))[1]?.meta.changes,
  grant: async (env, accountId) => {
    const id = await newId('dev')
    const outcome = await ledgerOf(env, accountId).createDevice(id, RECORD, CREATOR)
    await findDevice(openCell(env, 0), { accountId, groupId: null }, id, Date.now())
    return outcome
  },
  alert: async (env, accountId, deviceId) => {
    const now = Date.now()
    const { isVisible, ...context } = await readAlertContext(
      openCell(env, 0),
      { accountId, groupId: null, deviceId },
      { channels: ['Email', 'SMS'], now },
    )
    const alert = { id: await newId('alr'), name: 'LowBattery', text: '', dateTime: now }
    return ledgerOf(env, accountId).raiseAlert(deviceId, {
      ...context,
      alert,
      reported: null,
      origin: 'https://bare.test',
    })
  },
  group: async (env, accountId, id, description) => {
    const before = await findGroup(openCell(env, 0), accountId, id)
    return (
      before &&
      updateGroup(openCell(env, 0), {
        accountId,
        before,
        record: { ...before, description },
        now: Date.now(),
      })
    )
  },
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, name = '', accountId = '', id = '', key = ''] = new URL(request.url).pathname.split(
      '/',
    )
    const write = WRITES[name]
    if (write)
      return Response.json(await write(env, accountId, id, await request.text()), { status: 201 })
    const replacements = new Map<string | number | null, string>([
      ['ACCOUNT', accountId],
      ['ID', id],
      ['KEY', key],
    ])
    const statements = ((await READS[name]) ?? []).map((recorded) =>
      prepareAgain(recorded, replacements, env.DB),
    )
    const [only] = statements
    if (statements.length === 1 && only) return Response.json((await only.all()).results)
    // Two round trips, one after the other, as for an account that is not in cell 0. Everything else
    // is one batch.
    if (name === 'token') return Response.json([await only?.all(), await statements[1]?.all()])
    return Response.json((await env.DB.batch(statements)).map(({ results }) => results))
  },
}
