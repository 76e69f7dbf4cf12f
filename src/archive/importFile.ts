import type { Database } from '../db/open.ts'
import { decodeRow } from '../db/queries/archiveRows.ts'
import { devices, locations } from '../db/schema.ts'
import { linesOf, parseJson } from '../domain/archive/archive.ts'
import { ArchiveError, type ArchiveFile } from '../domain/archive/tar.ts'
import { isObject } from '../domain/text/json.ts'
import type { Ledger } from '../ledger/stub.ts'
import { checkRow } from './checks.ts'
import { isCellPart, PART_ORDER, type PartName } from './exportAccount.ts'
import { insertRows } from './insertRows.ts'
import { CELL_PARTS, type CellPart, type CellPartName, type Target } from './parts.ts'
import { readKeys, refuseForeignGroups } from './store.ts'
import { readFeature } from './tracks.ts'
import { zoneOf } from './zoneFeature.ts'

/* Stores one file of an archive. It may be stored again: what is there already stays. */

export interface Import extends Target {
  session: string
  db: Database
  ledger: Ledger
}

type Row = Record<string, unknown>

const partOf = (name: string): PartName => {
  const [base = ''] = name.split(/[-.]/)
  const part = PART_ORDER.find((each) => each === base)
  const type = part === 'tracks' || part === 'zones' ? 'geojson' : 'ndjson'
  if (!part || !name.endsWith(`.${type}`)) throw new ArchiveError('the file is not known')
  return part
}

const keyOf = (keys: Map<string, number>, id: unknown): number => {
  const key = keys.get(String(id))
  if (key === undefined) throw new ArchiveError('a line is of a device that is not there')
  return key
}

const storeRows = async (of: Import, name: CellPartName, lines: string[]): Promise<void> => {
  const part: CellPart = CELL_PARTS[name]
  const read = lines.map((text) => {
    const parsed = parseJson(name, text)
    const line = part.type === 'geojson' ? zoneOf(parsed) : parsed
    const row = decodeRow(part, line, part.hasDevice ? ['deviceId'] : [])
    checkRow(name, row, of)
    return { row, deviceId: isObject(line) ? line.deviceId : null }
  })
  const ids = new Set(read.flatMap(({ deviceId }) => (deviceId ? [String(deviceId)] : [])))
  const keys = part.hasDevice ? await readKeys(of.db, of.accountId, ids) : new Map()
  const deviceOf = (id: unknown) =>
    id === null && part.noDeviceKey !== null ? part.noDeviceKey : keyOf(keys, id)
  const rows = read.map(
    ({ row, deviceId }): Row => ({
      ...row,
      ...(part.hasDevice && { deviceKey: deviceOf(deviceId) }),
      ...part.derive(row, of),
    }),
  )
  if (name === 'groupDevices') await refuseForeignGroups(of.db, of.accountId, rows)
  await insertRows(of.db, part.table, of.accountId, rows)
}

const storeTracks = async (of: Import, lines: string[]): Promise<void> => {
  const now = Date.now()
  const read = lines.map((text) => readFeature(parseJson('tracks', text), now))
  const ids = new Set(read.map(({ deviceId }) => deviceId))
  const keys = await readKeys(of.db, of.accountId, ids)
  const rows = read.map(({ deviceId, row }) => ({ ...row, deviceKey: keyOf(keys, deviceId) }))
  await insertRows(of.db, locations, of.accountId, rows)
}

/** What the ledger refuses, as the error of the file. */
const callLedger = async (
  of: Import,
  part: Exclude<PartName, CellPartName | 'tracks'>,
  lines: string[],
) => {
  const outcome = await of.ledger.importRows(of.session, part, lines)
  if (outcome.ok) return outcome.devices
  throw new ArchiveError(outcome.detail ?? 'the import has ended')
}

const storeDevices = async (of: Import, lines: string[]): Promise<void> => {
  const stored = await callLedger(of, 'devices', lines)
  const rows = stored.map((device, at): Row => {
    const { sourceId, lastContact } = parseJson('devices', lines[at] ?? '') as Row
    const isText = typeof sourceId === 'string' || sourceId === null
    const contact = lastContact === null ? null : Date.parse(String(lastContact))
    if (!isText || Number.isNaN(contact)) throw new ArchiveError('a device is not valid')
    const counts = { usageDate: null, emailsSent: 0, smsSent: 0 }
    return { ...device, ...counts, sourceId, lastContact: contact, seq: 0 }
  })
  await insertRows(of.db, devices, of.accountId, rows)
}

/** Stores the file; returns how many rows it has. */
export const storeFile = async (of: Import, file: ArchiveFile): Promise<number> => {
  try {
    const part = partOf(file.name)
    const lines = linesOf(file)
    if (part === 'tracks') await storeTracks(of, lines)
    else if (part === 'devices') await storeDevices(of, lines)
    else if (isCellPart(part)) await storeRows(of, part, lines)
    else await callLedger(of, part, lines)
    return lines.length
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error
    throw new ArchiveError(`The file ${file.name} of the archive is not valid: ${error.message}.`)
  }
}
