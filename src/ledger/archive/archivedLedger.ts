import type { ListedFile, Manifest } from '../../domain/archive/archive.ts'
import { ArchiveError } from '../../domain/archive/tar.ts'
import { LedgerObject } from '../ledgerObject.ts'
import { exportRows, type LedgerLines, type LedgerPosition } from './exportRows.ts'
import { type CellDevice, importDevices, importRows } from './importRows.ts'
import * as session from './importSession.ts'
import type { LedgerPartName } from './tables.ts'

type NotFound = session.ImportRefusal
const NOT_FOUND: NotFound = { ok: false, refusal: 'import-not-found' }

/** What an export and an import ask of a ledger. */
export class ArchivedLedger extends LedgerObject {
  async exportRows(part: LedgerPartName, after: LedgerPosition | null): Promise<LedgerLines> {
    return exportRows(this.sql, part, after)
  }

  async startImport(
    start: Parameters<typeof session.startImport>[1],
  ): Promise<session.ImportOutcome> {
    return this.transact(() => session.startImport(this.sql, start, Date.now()))
  }

  async findImport(id: string): Promise<session.FoundImport | null> {
    return session.findImport(this.sql, id)
  }

  /** Stores rows of a file; devices come back as the cell stores them. */
  async importRows(
    id: string,
    part: LedgerPartName,
    lines: string[],
  ): Promise<{ ok: true; devices: CellDevice[] } | NotFound> {
    const found = session.findImport(this.sql, id)
    if (!found) return NOT_FOUND
    try {
      return this.transact(() => {
        if (part === 'devices')
          return { ok: true, devices: importDevices(this.sql, found, lines) } as const
        importRows(this.sql, part, lines)
        return { ok: true, devices: [] } as const
      })
    } catch (error) {
      if (!(error instanceof ArchiveError)) throw error
      return { ok: false, refusal: 'invalid-archive', detail: error.message }
    }
  }

  /** False when the import has ended. */
  async recordFile(id: string, file: ListedFile): Promise<boolean> {
    if (!session.findImport(this.sql, id)) return false
    session.recordFile(this.sql, file)
    return true
  }

  /** Ends an import, by default any. False when it has ended already, or its account exists. */
  async abandonImport(id?: string): Promise<boolean> {
    return this.transact(() => session.abandonImport(this.sql, id))
  }

  async finishImport(
    id: string,
    manifest: Manifest,
    lastEffect: number,
  ): Promise<session.ImportOutcome> {
    if (!session.findImport(this.sql, id)) return NOT_FOUND
    const finish = { manifest, lastEffect, now: Date.now() }
    const outcome = this.transact(() => session.finishImport(this.sql, this.env, finish))
    await this.outboxDrain.drain()
    return outcome
  }
}
