import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test } from 'vitest'
import { type ArchiveFile, END_OF_ARCHIVE, packFile } from '../../src/domain/archive/tar.ts'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import {
  changeFile,
  countRows,
  eraseCompletely,
  exportAsOperator,
  filesOf,
  fillAccount,
  gunzip,
  gzip,
  importArchive,
  packFiles,
  sweepErasures,
} from '../support/db/archive.ts'
import { createDevice } from '../support/devices.ts'
import { call, callAsOperator } from '../support/http.ts'

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

/** Refused with this detail, and nothing is left of it. */
const expectRefused = async (body: Uint8Array, detail: RegExp) => {
  const reply = await importArchive(body)
  expect([reply.status, reply.body?.code], reply.text).toEqual([400, 'invalid-archive'])
  expect(reply.body.detail).toMatch(detail)
  const { directory } = await countRows(account.id)
  expect(directory).toBeUndefined()
  await sweepErasures(account.id)
}

const replaceName = (from: string, to: string) =>
  packFiles(files.map((file) => (file.name === from ? { ...file, name: to } : file)))

describe('an archive is refused, and nothing is stored, when', () => {
  test('it is no gzip, or truncated', async () => {
    await expectRefused(new TextEncoder().encode('hello'), /not a gzip file/)
    await expectRefused(archive.slice(0, -30), /not a gzip file, or is truncated/)
    const tar = await gunzip(archive)
    await expectRefused(await gzip(tar.slice(0, 4096)), /truncated/)
    await expectRefused(await packFiles(files.slice(0, -1)), /no manifest/)
    await expectRefused(await packFiles(files.slice(1)), /does not begin with account\.json/)
  })

  test('a file does not have its checksum, is missing, or is not listed', async () => {
    const swapped = { keepsManifest: true }
    const renamed = (text: string) => text.replace('Gull', 'Gill')
    await expectRefused(
      await changeFile(files, 'devices-00001.ndjson', renamed, swapped),
      /checksum/,
    )
    const without = files.filter(({ name }) => name !== 'audit-00001.ndjson')
    await expectRefused(await packFiles(without), /audit-00001\.ndjson is missing/)
    await expectRefused(await replaceName('audit-00001.ndjson', 'audit-00002.ndjson'), /audit/)
  })

  test('its version or format is not known', async () => {
    const version = (text: string) => text.replace('"version":1', '"version":2')
    await expectRefused(await changeFile(files, 'account.json', version), /version 2.*version 1/)
    const format = (text: string) => text.replace('perigee-account', 'other')
    await expectRefused(await changeFile(files, 'account.json', format), /format perigee-account/)
  })

  test('the tar file has other names, links or sizes', async () => {
    await expectRefused(await replaceName('audit-00001.ndjson', '../../etc.json'), /other than/)
    await expectRefused(await replaceName('audit-00001.ndjson', 'surprise.json'), /not known/)
    const [head] = files
    const packed = packFile('account.json', head?.bytes ?? new Uint8Array())
    const link = packed.slice()
    link[156] = '2'.charCodeAt(0)
    await expectRefused(await gzip(link), /tar file|other than/)
    const huge = packFile('account.json', new Uint8Array(9_000_000))
    await expectRefused(await gzip(huge), /larger than 8 MiB/)
    const bomb = new Uint8Array(20_000_000)
    bomb.set(packed)
    await expectRefused(await gzip(bomb), /goes on after its end|no manifest/)
    const twice = await packFiles([
      ...files.slice(0, 2),
      { ...files[1], bytes: new Uint8Array(1) } as ArchiveFile,
    ])
    await expectRefused(twice, /twice/)
    expect(END_OF_ARCHIVE.byteLength).toBe(1024)
  })

  test('a row is not valid', async () => {
    const change = (name: string, from: string | RegExp, to: string) =>
      changeFile(files, name, (text) => text.replace(from, to))
    await expectRefused(
      await change('users-00001.ndjson', '"version":1', '"version":"1"'),
      /version/,
    )
    await expectRefused(
      await change('users-00001.ndjson', '"version":1', '"x":1'),
      /x is not known/,
    )
    await expectRefused(
      await change('tracks-00001.geojson', /"dateTime":"20/, '"dateTime":"99'),
      /location/,
    )
    await expectRefused(await change('rules-00001.ndjson', '"enters"', '"exits"'), /rules/)
    await expectRefused(await change('groups-00001.ndjson', '{', '{{'), /not JSON/)
  })

  test('its ids are those of another account', async () => {
    const { body } = await other.call('POST', '/api/zones', {
      body: { name: 'Mine', shape: { type: 'Circle', center: [0, 0], radius: 5 } },
    })
    const foreign = (text: string) => text.replace(/"id":"zon_\w+"/, `"id":"${body.zone.id}"`)
    await expectRefused(await changeFile(files, 'zones-00001.geojson', foreign), /in use already/)
    const mine = await createDevice(other)
    const taken = (text: string) => text.replace(/"id":"dev_\w+"/, `"id":"${mine}"`)
    await expectRefused(await changeFile(files, 'devices-00001.ndjson', taken), /in use|not there/)
    const made = (await other.call('POST', '/api/groups', { body: { name: 'Theirs' } })).body
    const member = (text: string) => text.replace(/"groupId":"grp_\w+"/, `"groupId":"${made.id}"`)
    await expectRefused(await changeFile(files, 'groupDevices-00001.ndjson', member), /group/)
    expect((await other.call('GET', `/api/groups/${made.id}`)).body.devices).toEqual([])
    expect((await other.call('GET', `/api/zones/${body.zone.id}`)).body.zone.name).toBe('Mine')
  })
})

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
  const first = await importArchive(await packFiles(files.slice(0, 2)), { more: 'true', userName })
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
  await sweepErasures(account.id)
  const late = { session: reply.body.session }
  expect((await importArchive(await packFiles(files.slice(6)), late)).body.code).toBe(
    'import-not-found',
  )
})

test('only the operator imports, and a user of a group exports nothing', async () => {
  const asAccount = await call('POST', '/admin/accounts/import', { token: other.token })
  expect(asAccount.status).toBe(401)
  const { body } = await other.call('POST', '/api/account/keys', {
    body: { name: 'reader', scopes: ['read', 'write'] },
  })
  const token = (
    await call('POST', '/api/Auth/Token', {
      body: { userName: other.userName, apiKey: body.apiKey },
    })
  ).body.token
  expect((await call('POST', '/api/account/export', { token })).status).toBe(403)
})
