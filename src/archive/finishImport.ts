import { confirmOpening } from '../admin/store.ts'
import { issueApiKey } from '../auth/secret.ts'
import { openDirectory } from '../db/open.ts'
import { addUsage } from '../db/queries/usage.ts'
import { keys } from '../db/schema.ts'
import { LOCATION_BYTES } from '../domain/account/budget.ts'
import type { Manifest } from '../domain/archive/archive.ts'
import { ArchiveError } from '../domain/archive/tar.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { NEWEST_VERSION } from '../http/version/versions.ts'
import { newId } from '../ids.ts'
import { operatorContext } from '../serviceContext.ts'
import { listSourcesAgain } from '../sources/directory.ts'
import type { Import } from './importFile.ts'
import { recordImport } from './record.ts'
import { countSources, readImported } from './store.ts'

/* The end of an import: from here on the account exists. */

/** An estimate of what the account stores. */
const storedBytes = ({ files }: Manifest): number =>
  files.reduce(
    (sum, { name, bytes, rows }) =>
      sum + (name.startsWith('tracks') ? rows * LOCATION_BYTES : bytes),
    0,
  )

const listSources = async (c: Context, of: Import, expected: number): Promise<void> => {
  const directory = openDirectory(c.env)
  await listSourcesAgain(directory, of.db, of)
  if ((await countSources(directory, of.accountId)) !== expected)
    throw new ArchiveError('The id of a source is in use already.')
}

/** Without an event and an entry in the audit: both are as the archive has them. */
const makeFirstKey = async ({ db, accountId }: Import): Promise<string> => {
  const id = await newId('key')
  const { apiKey, hash } = await issueApiKey(id)
  const first = { name: 'first', scopes: ['admin'], creation: Date.now() }
  const key = { ...first, id, accountId, hash, apiVersion: NEWEST_VERSION }
  await db.insert(keys).values(key)
  return apiKey
}

/** Returns the account's first API key. */
export const finishImport = async (c: Context, of: Import, manifest: Manifest): Promise<string> => {
  const { db, accountId, cell, ledger, session } = of
  const { lastEffect, sources, foreign } = await readImported(db, accountId)
  if (foreign > 0) throw new ArchiveError('A user is of a group or device that is not there.')
  await listSources(c, of, sources)
  const outcome = await ledger.finishImport(session, manifest, lastEffect)
  if (!outcome.ok && outcome.refusal === 'invalid-archive')
    throw new ArchiveError(outcome.detail ?? 'The archive is not complete.')
  if (!outcome.ok) throw new Problem('import-not-found')
  const apiKey = await makeFirstKey(of)
  const used = { day: new Date().toISOString().slice(0, 10), locations: 0, requests: 0 }
  await addUsage(db, { accountId, ...used, storageBytes: storedBytes(manifest) })
  await confirmOpening(openDirectory(c.env), accountId)
  await recordImport(operatorContext(c, { id: accountId, cell }))
  return apiKey
}
