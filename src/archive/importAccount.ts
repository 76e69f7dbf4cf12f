import { reserveEntry } from '../admin/reserveEntry.ts'
import { eraseAgain, findInDirectory } from '../admin/store.ts'
import { openCell, openDirectory } from '../db/open.ts'
import {
  checksumOf,
  decodeText,
  HEAD_FILE,
  type ListedFile,
  MANIFEST_FILE,
  parseJson,
} from '../domain/archive/archive.ts'
import { ArchiveError, type ArchiveFile, unpackFiles } from '../domain/archive/tar.ts'
import { cellNumbers } from '../env.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { newId } from '../ids.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { deleteMoved } from '../move/store.ts'
import { type ArchivedAccount, checkHead, checkManifest } from './checks.ts'
import { finishImport } from './finishImport.ts'
import { type Import, storeFile } from './importFile.ts'
import { pump } from './pump.ts'
import { insertHead, isBeingErased, renewOpening } from './store.ts'

/*
 * An import. Its account does not exist before the manifest has arrived and all files are as it
 * says: until then the directory only reserves the user name, and what is stored is erased when a
 * file is not valid, or when no more files come for five minutes.
 */

export interface ImportOptions {
  userName?: string | undefined
  cell?: number | undefined
  /** Continues the import that an earlier reply named. */
  session?: string | undefined
  /** Further files follow in another request. */
  more: boolean
}

export type ImportResult =
  | { isComplete: true; accountId: string; apiKey: string }
  | { isComplete: false; session: string; files: number }

/** Becomes at most 16 MB when it is unpacked. */
const PIECE_BYTES = 16_384
/** What one request can store within the limits of CPU time and queries. */
const MAX_UNPACKED_BYTES = 268_435_456
const RENEW_AFTER_MS = 60_000

async function* limitBytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of source) {
    size += chunk.byteLength
    if (size > MAX_UNPACKED_BYTES)
      throw new Problem('body-too-large', {
        detail:
          'The archive has more than 256 MiB when it is unpacked. Send it in several requests: `more` and `session`.',
      })
    yield chunk
  }
}

const unpack = async function* (body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* limitBytes(pump(body, new DecompressionStream('gzip'), PIECE_BYTES))
  } catch (error) {
    if (error instanceof Problem || error instanceof ArchiveError) throw error
    throw new ArchiveError('The archive is not a gzip file, or is truncated.')
  }
}

const invalidArchive = (detail: string): Problem => new Problem('invalid-archive', { detail })

const refuseExisting = async (c: Context, accountId: string): Promise<void> => {
  if (await findInDirectory(openDirectory(c.env), accountId)) throw new Problem('account-exists')
  for (const cell of cellNumbers(c.env))
    if (await isBeingErased(openCell(c.env, cell), accountId))
      throw new Problem('account-exists', {
        detail: 'An account with this id is still being erased. Try again in some minutes.',
      })
}

/** Reserves the user name, and begins to fill the ledger. */
const startImport = async (
  c: Context,
  given: ArchivedAccount,
  { userName = given.userName, cell }: ImportOptions,
): Promise<Import> => {
  const { id, licenses, events: sequence, creation, lastModified, ...members } = given
  await refuseExisting(c, id)
  const entry = await reserveEntry(c, { id, userName, cell })
  const session = `${id}.${await newId('imp')}`
  const account = {
    ...(members as Omit<typeof members, 'escalation'> & { escalation: never }),
    id,
    userName,
    number: entry.number,
    cell: entry.cell,
    total: licenses,
    creation: Date.parse(creation),
    lastModified: Date.parse(lastModified),
  }
  const ledger = ledgerOf(c.env, id)
  const outcome = await ledger.startImport({ session, account, sequence })
  if (!outcome.ok) throw new Problem('account-exists')
  const db = openCell(c.env, entry.cell)
  // An earlier account with this id may have left this cell.
  await deleteMoved(db, id)
  await insertHead(db, id, sequence)
  return { session, accountId: id, cell: entry.cell, sequence, db, ledger }
}

const continueImport = async (
  c: Context,
  session: string,
): Promise<{ of: Import; files: ListedFile[] }> => {
  const [accountId = ''] = session.split('.')
  const ledger = ledgerOf(c.env, accountId)
  const found = accountId && (await ledger.findImport(session))
  if (!found) throw new Problem('import-not-found')
  const { cell, sequence, files } = found
  return { of: { session, accountId, cell, sequence, db: openCell(c.env, cell), ledger }, files }
}

/**
 * Erases what was stored, unless another request has finished the import. The sweep does the same
 * with an import that nobody continues.
 */
const abandonImport = async (c: Context, of: Import): Promise<void> => {
  const { accountId, cell, db, ledger, session } = of
  if (!(await ledger.abandonImport(session))) return
  const directory = openDirectory(c.env)
  await eraseAgain(directory, db, { accountId, cell, now: Date.now() })
}

/** One request of an import, which may be the only one. */
class ImportRequest {
  readonly #c: Context
  readonly #options: ImportOptions
  #import: Import | null = null
  readonly #files = new Map<string, ListedFile>()
  #renewedAt = 0
  #apiKey: string | null = null

  constructor(c: Context, options: ImportOptions) {
    this.#c = c
    this.#options = options
  }

  async begin(): Promise<void> {
    const { session } = this.#options
    if (session === undefined) return
    const { of, files } = await continueImport(this.#c, session)
    this.#import = of
    for (const file of files) this.#files.set(file.name, file)
  }

  async take(file: ArchiveFile): Promise<void> {
    if (this.#apiKey !== null) throw new ArchiveError('The archive goes on after its manifest.')
    const { name, bytes } = file
    const listed = { name, sha256: await checksumOf(bytes), bytes: bytes.byteLength, rows: 1 }
    const known = this.#files.get(name)
    // An interrupted request is sent again.
    if (known && known.sha256 === listed.sha256) return
    if (known) throw new ArchiveError(`The archive has the file ${name} twice.`)
    if (name === HEAD_FILE && !this.#import) {
      const head = checkHead(parseJson(name, decodeText(file)))
      this.#import = await startImport(this.#c, head, this.#options)
      await this.#import.ledger.recordFile(this.#import.session, listed)
    } else await this.#store(file, listed)
    this.#files.set(name, listed)
  }

  async #store(file: ArchiveFile, listed: ListedFile): Promise<void> {
    const of = this.#import
    if (!of) throw new ArchiveError(`The archive does not begin with ${HEAD_FILE}.`)
    await this.#renew(of)
    if (file.name === MANIFEST_FILE) {
      const manifest = checkManifest(parseJson(file.name, decodeText(file)), of.accountId)
      this.#apiKey = await finishImport(this.#c, of, manifest)
      return
    }
    const rows = await storeFile(of, file)
    if (!(await of.ledger.recordFile(of.session, { ...listed, rows })))
      throw new Problem('import-not-found')
  }

  /** The sweep erases an import whose entry in the directory is older than five minutes. */
  async #renew({ accountId }: Import): Promise<void> {
    const now = Date.now()
    if (now - this.#renewedAt < RENEW_AFTER_MS) return
    if (!(await renewOpening(openDirectory(this.#c.env), accountId, now)))
      throw new Problem('import-not-found')
    this.#renewedAt = now
  }

  end(): ImportResult {
    const of = this.#import
    if (of && this.#apiKey !== null)
      return { isComplete: true, accountId: of.accountId, apiKey: this.#apiKey }
    if (of && this.#options.more)
      return { isComplete: false, session: of.session, files: this.#files.size }
    throw new ArchiveError('The archive is truncated: it has no manifest.')
  }

  /** A request that only failed can be sent again, unless it is the whole import. */
  async fail(error: unknown): Promise<void> {
    const { more, session } = this.#options
    const isRefused = error instanceof ArchiveError || error instanceof Problem
    const isWhole = !more && session === undefined
    if (this.#import && this.#apiKey === null && (isRefused || isWhole))
      await abandonImport(this.#c, this.#import)
  }
}

export const importAccount = async (c: Context, options: ImportOptions): Promise<ImportResult> => {
  const { body } = c.req.raw
  if (!body) throw invalidArchive('The request has no body. Send the archive of an export.')
  const request = new ImportRequest(c, options)
  try {
    await request.begin()
    for await (const file of unpackFiles(unpack(body))) await request.take(file)
    return request.end()
  } catch (error) {
    await request.fail(error)
    throw error instanceof ArchiveError ? invalidArchive(error.message) : error
  }
}
