// What the API is measured against: the same statements on the same data, with nothing around them. No token, no checks, no
// rate limit, no log line; bodies arrive as the statement wants them and rows go out as they came.
import { readAlertContext } from '../../src/alerts/alertContext.ts'
import { openCell } from '../../src/db/open.ts'
import { findDevice, listDevices } from '../../src/devices/store.ts'
import type { Env } from '../../src/env.ts'
import { AccountFeed } from '../../src/feed/feed.ts'
import { updateGroup } from '../../src/groups/edit.ts'
import { findGroup } from '../../src/groups/store.ts'
import { newId } from '../../src/ids.ts'
import { AccountLedger } from '../../src/ledger/ledger.ts'
import { ledgerOf } from '../../src/ledger/stub.ts'
import { beginTrack, findLastLocation } from '../../src/locations/store.ts'
import { findAccount, findKey } from '../../src/tokens/store.ts'
import { reportStatements, type Statement, statementsOf, withValues } from './statements.ts'

export { AccountFeed, AccountLedger }

const owner = { accountId: 'ACCOUNT', groupId: null }
const track = { ...owner, deviceId: 'ID' }
const listing = { sort: 'name', after: null, limit: 100 } as const

/** Reads, by name: the statements of each are heard once and then only run. */
const READS: Record<string, Promise<Statement[]>> = {
  token: statementsOf(async (db) => [await findAccount(db, 'ID'), await findKey(db, 'KEY')]),
  device: statementsOf((db) => findDevice(db, owner, 'ID', 0)),
  devices: statementsOf((db) => listDevices(db, owner, listing, 0)),
  lastLocation: statementsOf((db) => findLastLocation(db, track)),
  history: statementsOf((db) => beginTrack(db, track, { from: 0, to: Date.UTC(9999, 0, 1) }, 1000)),
}

const MAKER = { userId: null, groupId: null, cap: null }
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
    (await db.batch(await reportStatements(db, accountId, id, packed)))[0]?.meta.changes,
  grant: async (env, accountId) => {
    const id = await newId('dev')
    const outcome = await ledgerOf(env, accountId).create(id, RECORD, MAKER)
    await findDevice(openCell(env, 0), { accountId, groupId: null }, id, Date.now())
    return outcome
  },
  alert: async (env, accountId, deviceId) => {
    const now = Date.now()
    const { recipients } = await readAlertContext(
      openCell(env, 0),
      { accountId, groupId: null },
      deviceId,
      ['Email', 'SMS'],
      now,
    )
    const alert = {
      id: await newId('alr'),
      name: 'LowBattery',
      text: '',
      dateTime: now,
      latitude: null,
      longitude: null,
    }
    return ledgerOf(env, accountId).raise(deviceId, {
      alert,
      recipients,
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
    const own = new Map([
      ['ACCOUNT', accountId],
      ['ID', id],
      ['KEY', key],
    ])
    const statements = ((await READS[name]) ?? []).map((one) =>
      withValues(one, own as Map<string | number | null, string>, env.DB),
    )
    const [only] = statements
    if (statements.length === 1 && only) return Response.json((await only.all()).results)
    // The token's two look-ups follow one from the other; what is read in one batch is read in one here too.
    if (name === 'token') return Response.json([await only?.all(), await statements[1]?.all()])
    return Response.json((await env.DB.batch(statements)).map(({ results }) => results))
  },
}
