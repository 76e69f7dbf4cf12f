import { env } from 'cloudflare:workers'
import { beforeAll, expect, test } from 'vitest'
import type { ArchiveFile } from '../../../src/domain/archive/tar.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import {
  countRows,
  eraseCompletely,
  exportAsOperator,
  filesOf,
  fillAccount,
  importArchive,
  packFiles,
  sweepErasures,
} from '../../support/db/archive.ts'
import { callAsOperator } from '../../support/http.ts'

/* Imports in several requests, at the same time, and left alone. */

let account: TestAccount
let other: TestAccount
let archive: Uint8Array
let files: ArchiveFile[]

beforeAll(async () => {
  account = await openAccount()
  other = await openAccount()
  await fillAccount(account)
  archive = await exportAsOperator(account)
  files = await filesOf(archive)
  await eraseCompletely(account)
}, 120_000)

/** All but the audit, which keeps what the operator did with the account before. */
const expectSame = async () => {
  const again = await filesOf(await exportAsOperator(account))
  const isCompared = ({ name }: ArchiveFile) => !/^(audit|manifest)/.test(name)
  expect(again.filter(isCompared)).toEqual(files.filter(isCompared))
}

test('an account that exists, or whose user name is taken, is not imported', async () => {
  const exported = await exportAsOperator(other)
  const same = await importArchive(exported)
  expect([same.status, same.body.code]).toEqual([409, 'account-exists'])
  const taken = await importArchive(archive, { userName: other.userName })
  expect([taken.status, taken.body.code]).toEqual([409, 'user-name-taken'])
  expect(await countRows(account.id)).toEqual({})
})

test('a large archive is imported in several requests, and may be under another name', async () => {
  const userName = `other-${crypto.randomUUID().slice(0, 8)}`
  // The account was in this cell before, and left it.
  await env.DB.prepare(`INSERT INTO moved_accounts VALUES (?, 999998, 1, 'left', 0, '', 1)`)
    .bind(account.id)
    .run()
  const begin = { more: 'true', userName, cell: '0' }
  const first = await importArchive(await packFiles(files.slice(0, 2)), begin)
  expect(first.body).toEqual({ success: true, session: expect.any(String), files: 2 })
  const { session } = first.body
  // Until it is finished nothing can be reached.
  const read = await callAsOperator('GET', `/admin/accounts/${account.id}`)
  expect(read.body.code).toBe('account-not-found')
  const again = await importArchive(archive)
  expect(again.body.code).toBe('account-exists')
  // A request whose reply was lost is sent again.
  for (let attempt = 0; attempt < 2; attempt++) {
    const next = await importArchive(await packFiles(files.slice(2, 9)), { more: 'true', session })
    expect(next.body.files).toBe(9)
  }
  const unknown = await importArchive(await packFiles(files.slice(9)), { session: `${session}x` })
  expect([unknown.status, unknown.body.code]).toEqual([404, 'import-not-found'])
  const last = await importArchive(await packFiles(files.slice(9)), { session })
  expect([last.status, last.body.account?.userName], last.text).toEqual([201, userName])
  await eraseCompletely({ id: account.id, userName })
})

test('an import that nobody continues is erased', async () => {
  const reply = await importArchive(await packFiles(files.slice(0, 6)), { more: 'true' })
  expect(reply.status).toBe(200)
  await env.DB.prepare('UPDATE directory SET opening_at = 1 WHERE account_id = ?')
    .bind(account.id)
    .run()
  await sweep(env as never, Date.now())
  expect(await countRows(account.id)).toMatchObject({ erasures: 1 })
  await sweepErasures(account.id)
  const late = { session: reply.body.session }
  expect((await importArchive(await packFiles(files.slice(6)), late)).body.code).toBe(
    'import-not-found',
  )
})

test('two imports of the same archive at the same time open one account', async () => {
  const replies = await Promise.all([importArchive(archive), importArchive(archive)])
  expect(replies.map(({ status }) => status).sort(), replies[1]?.text).toEqual([201, 409])
  const read = await callAsOperator('GET', `/admin/accounts/${account.id}`)
  expect(read.status, read.text).toBe(200)
  await expectSame()
  await eraseCompletely(account)
})

test('the last request, sent twice at the same time, erases nothing', async () => {
  const { body } = await importArchive(await packFiles(files.slice(0, 3)), { more: 'true' })
  const rest = await packFiles(files.slice(3))
  const { session } = body
  const replies = await Promise.all([
    importArchive(rest, { session }),
    importArchive(rest, { session }),
  ])
  const statuses = replies.map(({ status }) => status).sort()
  expect(statuses[0], replies.map(({ text }) => text).join('\n')).toBe(201)
  expect(await countRows(account.id)).toMatchObject({ directory: 1 })
  expect((await countRows(account.id)).erasures).toBeUndefined()
  await expectSame()
  await eraseCompletely(account)
})

test('nobody takes the name of an import, and a refused one can be sent again', async () => {
  const { body } = await importArchive(await packFiles(files.slice(0, 3)), { more: 'true' })
  const opened = await callAsOperator('POST', '/admin/accounts', {
    body: { userName: account.userName, name: 'Second', licenses: 1, timeZone: 'UTC' },
  })
  expect([opened.status, opened.body.code]).toEqual([409, 'user-name-taken'])
  // A file that is not valid ends the import, for requests that are still to come as well.
  const bad = { name: 'users-00001.ndjson', bytes: new TextEncoder().encode('{}\n') }
  const { session } = body
  const ended = await importArchive(await packFiles([bad]), { more: 'true', session })
  expect(ended.body.code).toBe('invalid-archive')
  const later = await importArchive(await packFiles(files.slice(3)), { session })
  expect([later.status, later.body.code]).toEqual([404, 'import-not-found'])
  const early = await importArchive(archive)
  expect([early.status, early.body.code]).toEqual([409, 'account-exists'])
  expect(early.body.detail).toContain('still being erased')
  await sweepErasures(account.id)
  expect((await importArchive(archive)).status).toBe(201)
  await expectSame()
})
