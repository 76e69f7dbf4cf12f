import { sql } from 'drizzle-orm'
import { encodeRow } from '../db/queries/archiveRows.ts'
import { newAuditId } from '../db/queries/audit.ts'
import { audit, events } from '../db/schema.ts'
import { type Account, keptSince } from '../domain/account/account.ts'
import { deviceKey, keysBeside } from '../domain/account/device.ts'
import { type RowSource, writeArchive } from '../domain/archive/archive.ts'
import type { JsonObject } from '../domain/text/json.ts'
import { iso } from '../domain/time/iso.ts'
import { acquireLongReply } from '../http/admission/longReply.ts'
import type { Context } from '../http/context.ts'
import { ledgerOf } from '../ledger/stub.ts'
import type { ServiceContext } from '../serviceContext.ts'
import {
  type ExportedMonth,
  exportTracks,
  type ReadInTurn,
  readMonthsOf,
  requireExportable,
  type Tracks,
} from './exportTracks.ts'
import { CELL_PARTS, type CellPart, type CellPartName } from './parts.ts'
import { pump } from './pump.ts'
import { recordExport } from './record.ts'
import {
  type CellPage,
  type CellPosition,
  isSettled,
  readContacts,
  readLastKey,
  readPage,
  readSequence,
  wasDisturbed,
} from './store.ts'
import { zoneFeature } from './zoneFeature.ts'

/* The archive of an account, as a stream. */

type LedgerPartName = Parameters<ReturnType<typeof ledgerOf>['exportRows']>[0]

/** The order of an archive: what others refer to comes first. */
export const PART_ORDER = [
  'devices',
  'groups',
  'groupDevices',
  'users',
  'zones',
  'rules',
  'sources',
  'webhooks',
  'watches',
  'tracks',
  'quarantine',
  'stays',
  'silentDevices',
  'alerts',
  'alertLog',
  'messages',
  'commands',
  'events',
  'audit',
  'licenseLog',
  'messageCounts',
  'raisedAlerts',
  'alertReports',
  'ruleCooldowns',
  'drills',
  'alertStates',
] as const satisfies (CellPartName | LedgerPartName | 'tracks')[]
export type PartName = (typeof PART_ORDER)[number]

export const isCellPart = (name: PartName): name is CellPartName => name in CELL_PARTS

interface Exported {
  context: ServiceContext
  account: Account
  keys: [first: number, last: number]
  /** The account's last event, and the entry of the audit that the export itself has. */
  sequence: number
  entryId: string
  began: number
  readInTurn: ReadInTurn
  tracks: Tracks
  months: ExportedMonth[]
}

/** What belongs to the account, without what the installation knows of it alone. */
const headOf = ({ account, sequence }: Exported) => {
  const { number, cell, day, used, deletedAt, total, creation, lastModified, ...members } = account
  const times = { creation: iso(creation), lastModified: iso(lastModified) }
  return { account: { ...members, licenses: total, ...times, events: sequence } }
}

/** What was written since the export began is left out, with what refers to it. */
const conditionOf = (name: CellPartName, of: Exported) => {
  if (name === 'events') return sql`${events.sequence} <= ${of.sequence}`
  if (name === 'audit') return sql`${audit.id} < ${of.entryId}`
  return isSettled(name, of)
}

async function* cellPages(name: CellPartName, of: Exported): AsyncGenerator<string[]> {
  const part: CellPart = CELL_PARTS[name]
  const { db, accountId } = of.context
  const condition = conditionOf(name, of)
  let next: CellPosition | null = null
  do {
    const query = { accountId, keys: of.keys, after: next, condition }
    const page: CellPage = await of.readInTurn(part.pageRows, () => readPage(db, part, query))
    yield page.rows.map((row) => {
      const device: JsonObject = part.hasDevice ? { deviceId: row.deviceId ?? null } : {}
      const line = encodeRow(part, part.toArchive(row), device)
      return JSON.stringify(part.type === 'geojson' ? zoneFeature(line) : line)
    })
    next = page.next
  } while (next)
}

const LEDGER_PAGE_ROWS = 1000

/** The cell adds to devices what it alone knows. */
const withContacts = async ({ db, accountId }: ServiceContext, lines: string[]) => {
  const devices = lines.map((line) => JSON.parse(line) as JsonObject & { id: string })
  const ids = devices.map(({ id }) => id)
  const contacts = await readContacts(db, accountId, ids)
  return devices.map((device) => {
    const { sourceId = null, lastContact = null } = contacts.get(device.id) ?? {}
    const contact = lastContact === null ? null : iso(lastContact)
    return JSON.stringify({ ...device, sourceId, lastContact: contact })
  })
}

async function* ledgerPages(name: LedgerPartName, of: Exported): AsyncGenerator<string[]> {
  const { env, accountId } = of.context
  for (let after: (string | number)[] | null = null; ; ) {
    const { lines, next } = await of.readInTurn(LEDGER_PAGE_ROWS, () =>
      ledgerOf(env, accountId).exportRows(name, after),
    )
    yield name === 'devices' ? await withContacts(of.context, lines) : lines
    if (next === null) return
    after = next
  }
}

const sourceOf = (name: PartName, of: Exported): RowSource => {
  if (name === 'tracks')
    return { name, type: 'geojson', pages: () => exportTracks(of.tracks, of.months, of.readInTurn) }
  return isCellPart(name)
    ? { name, type: CELL_PARTS[name].type, pages: () => cellPages(name, of) }
    : { name, type: 'ndjson', pages: () => ledgerPages(name, of) }
}

/**
 * The end of the archive. Throws, so that it has no manifest, if rows were moved past the export
 * meanwhile: to another cell, to the bucket, or of a device that came back.
 */
async function* requireUndisturbed({ tracks, months, sequence }: Exported): AsyncGenerator<never> {
  const known = new Set(months.map(({ object }) => object))
  const isMoved = (await readMonthsOf(tracks)).some(({ object }) => !known.has(object))
  if (isMoved || (await wasDisturbed(tracks.db, tracks.accountId, sequence)))
    throw new Error('the account, a month or a device has moved during the export')
}

const PIECE_BYTES = 262_144

/** Nothing is read before the client asks for it; a failure leaves an archive without its end. */
const toStream = (chunks: AsyncGenerator<Uint8Array>, onEnd: () => void) =>
  new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value, done } = await chunks.next()
          if (!done) return controller.enqueue(value)
        } catch (error) {
          onEnd()
          throw error
        }
        onEnd()
        controller.close()
      },
      async cancel() {
        onEnd()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )

/** The locations that an archive has; by default all. */
export interface ExportSpan {
  from?: number | undefined
  to?: number | undefined
}
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 11, 31)]

/** Records the export in the account's audit, and streams the archive. */
export const exportAccount = async (
  c: Context,
  context: ServiceContext,
  account: Account,
  { from = EARLIEST, to = LATEST }: ExportSpan,
): Promise<ReadableStream<Uint8Array>> => {
  const { accountId, db } = context
  const slot = acquireLongReply(accountId, c)
  try {
    const [first, last] = keysBeside(deviceKey(account.number, 0))
    const keys: Tracks['keys'] = [first, await readLastKey(db, [first, last])]
    const keptDays = Math.min(
      account.retentionDays,
      account.budgets.maxRetentionDays ?? account.retentionDays,
    )
    const span = { from, to, keptSince: keptSince(context.now(), keptDays) }
    const tracks = { db, accountId, keys, ...span }
    const months = await requireExportable(tracks)
    const began = context.now()
    const entryId = newAuditId(began)
    const sequence = await readSequence(db, accountId)
    await recordExport(context, entryId)
    const readInTurn: ReadInTurn = (rows, read) => slot.readInTurn({ rows, read })
    const sent = { context, account, keys, sequence, entryId, began, readInTurn }
    const of: Exported = { ...sent, tracks, months }
    const end: RowSource = { name: 'end', type: 'ndjson', pages: () => requireUndisturbed(of) }
    const sources = [...PART_ORDER.map((name) => sourceOf(name, of)), end]
    const packed = pump(
      writeArchive(headOf(of), sources),
      new CompressionStream('gzip'),
      PIECE_BYTES,
    )
    return toStream(packed, slot.release)
  } catch (error) {
    slot.release()
    throw error
  }
}
