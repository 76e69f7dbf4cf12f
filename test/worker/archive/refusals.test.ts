import { beforeAll, describe, expect, test } from 'vitest'
import { pump } from '../../../src/archive/pump.ts'
import { type ArchiveFile, packFile } from '../../../src/domain/archive/tar.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
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
} from '../../support/db/archive.ts'
import { createDevice } from '../../support/devices.ts'
import { call, callAsOperator } from '../../support/http.ts'

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
  const reply = await importArchive(body, { cell: '0' })
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

  test('its manifest is that of another account, or no manifest', async () => {
    const change = (from: string, to: string) =>
      changeFile(files, 'manifest.json', (text) => text.replace(from, to))
    await expectRefused(await change(account.id, other.id), /manifest is that of another account/)
    await expectRefused(await change('"version": 1', '"version": 2'), /version 2/)
    await expectRefused(
      await change('"rows"', '"lines"'),
      /manifest\.json of the archive is not valid/,
    )
    await expectRefused(await change('{', '{{'), /not JSON/)
  })

  test('it is too large for one request', async () => {
    const text = new TextDecoder().decode(files[0]?.bytes)
    const large = new TextEncoder().encode(`${' '.repeat(7_900_000)}${text}`)
    const parts = async function* () {
      for (let count = 0; count < 40; count++) yield packFile('account.json', large)
    }
    const packed = pump(parts(), new CompressionStream('gzip'), 1_000_000)
    const archived = await new Blob(await Array.fromAsync(packed)).bytes()
    const reply = await importArchive(archived, { cell: '0' })
    expect([reply.status, reply.body.code], reply.text).toEqual([413, 'body-too-large'])
    await sweepErasures(account.id)
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

test('an operator who may only read neither exports nor imports', async () => {
  for (const role of ['support', 'billing']) {
    const { body } = await callAsOperator('POST', '/admin/operators', {
      body: { name: role, role },
    })
    const asOperator = { token: body.apiKey }
    const paths = [`/admin/accounts/${other.id}/export`, '/admin/accounts/import']
    for (const path of paths) expect((await call('POST', path, asOperator)).status).toBe(403)
  }
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
