import { env, exports } from 'cloudflare:workers'
import { expect } from 'vitest'
import {
  type ArchiveFile,
  END_OF_ARCHIVE,
  packFile,
  unpackFiles,
} from '../../../src/domain/archive/tar.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import type { TestAccount } from '../accounts.ts'
import { createDevice } from '../devices.ts'
import { callAsOperator, ORIGIN, type Reply, readReply } from '../http.ts'
import { eventually, iso } from '../time.ts'
import { createUser } from '../users.ts'

const operator = { Authorization: `Bearer ${env.ADMIN_TOKEN}` }

export const exportAs = async (
  token: string,
  path = '/api/account/export',
  /** What happens before the client reads the first byte. */
  meanwhile = async (): Promise<void> => {},
): Promise<Uint8Array> => {
  const headers = { Authorization: `Bearer ${token}` }
  const response = await exports.default.fetch(`${ORIGIN}${path}`, { method: 'POST', headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('Content-Type')).toBe('application/gzip')
  await meanwhile()
  return new Uint8Array(await response.arrayBuffer())
}

export const exportAsOperator = ({ id }: { id: string }): Promise<Uint8Array> =>
  exportAs(env.ADMIN_TOKEN ?? '', `/admin/accounts/${id}/export`)

export const importArchive = async (
  body: Uint8Array,
  query: Record<string, string> = {},
): Promise<Reply> => {
  const path = `/admin/accounts/import?${new URLSearchParams(query)}`
  const headers = { ...operator, 'Content-Type': 'application/gzip' }
  return readReply(
    await exports.default.fetch(`${ORIGIN}${path}`, { method: 'POST', headers, body }),
  )
}

const through = async (bytes: Uint8Array, stream: TransformStream): Promise<Uint8Array> =>
  new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer())

export const gzip = (bytes: Uint8Array) => through(bytes, new CompressionStream('gzip'))
export const gunzip = (bytes: Uint8Array) => through(bytes, new DecompressionStream('gzip'))

export const filesOf = async (archive: Uint8Array): Promise<ArchiveFile[]> => {
  const bytes = await gunzip(archive)
  const source = async function* () {
    yield bytes
  }
  return Array.fromAsync(unpackFiles(source()))
}

export const packFiles = async (files: ArchiveFile[], end = END_OF_ARCHIVE): Promise<Uint8Array> =>
  gzip(
    new Uint8Array(
      await new Blob([...files.map(({ name, bytes }) => packFile(name, bytes)), end]).arrayBuffer(),
    ),
  )

export const textOf = (files: ArchiveFile[], name: string): string =>
  new TextDecoder().decode(files.find((file) => file.name === name)?.bytes)

/** Replaces a file's text, and its checksum in the manifest unless that stays wrong. */
export const changeFile = async (
  files: ArchiveFile[],
  name: string,
  change: (text: string) => string,
  { keepsManifest = false } = {},
): Promise<Uint8Array> => {
  const bytes = new TextEncoder().encode(change(textOf(files, name)))
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex()
  const manifest = JSON.parse(textOf(files, 'manifest.json'))
  const listed = manifest.files.find((file: { name: string }) => file.name === name)
  if (listed && !keepsManifest) Object.assign(listed, { sha256: digest, bytes: bytes.byteLength })
  const written = new TextEncoder().encode(JSON.stringify(manifest))
  return packFiles(
    files.map((file) => {
      if (file.name === name) return { name, bytes }
      return file.name === 'manifest.json' ? { name: file.name, bytes: written } : file
    }),
  )
}

/** Erases an account completely, so that an import finds no trace of it. */
export const eraseCompletely = async ({ id, userName }: { id: string; userName: string }) => {
  const gone = await callAsOperator('DELETE', `/admin/accounts/${id}?now=true`, {
    body: { userName },
  })
  expect(gone.status, gone.text).toBe(200)
  await sweepErasures(id)
}

/** Runs the sweep until nothing of an erased account is left. */
export const sweepErasures = (id: string) =>
  eventually(async () => {
    await sweep(env as never, Date.now() + 120_000)
    expect(await countRows(id)).toEqual({})
  })

/** How many rows of the account the cells have, by table, without what outlives its erasure. */
export const countRows = async (accountId: string): Promise<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const db of [env.DB, (env as unknown as { CELL_1: D1Database }).CELL_1]) {
    const { results } = await db
      .prepare(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE '%account_id%'
          AND name NOT IN ('audit', 'usage_months')`,
      )
      .all<{ name: string }>()
    for (const { name } of results) {
      const found = await db
        .prepare(`SELECT count(*) AS n FROM ${name} WHERE account_id = ?`)
        .bind(accountId)
        .first<number>('n')
      if (found) counts[name] = (counts[name] ?? 0) + found
    }
  }
  return counts
}

const ok = async (reply: Promise<Reply>) => {
  const { status, text, body } = await reply
  if (status >= 300) throw new Error(text)
  return body
}

/** Gives an account something of everything that an archive has. */
export const fillAccount = async (account: TestAccount) => {
  const post = (path: string, body?: object) => ok(account.call('POST', path, { body }))
  const [tern, gull, old] = [
    await createDevice(account, { name: 'Térn 7 “north”', identifier: 'IMEI-7', tags: { a: '1' } }),
    await createDevice(account, { name: 'Gull', min: '+881632000000' }),
    await createDevice(account, { name: 'Auk' }),
  ]
  await ok(
    account.call('PATCH', `/api/devices/${old}`, {
      body: { limits: { expires: true, expirationDate: '2026-01-01' } },
    }),
  )
  const group = await post('/api/groups', { name: 'Nörth', devices: [tern, gull] })
  const user = await createUser(account, { name: 'Ana', password: 'correct horse' })
  await createUser(account, { name: 'Rui', group: 'Nörth', deviceId: tern })
  const circle = { type: 'Circle', center: [-9.1393, 38.7223], radius: 500.5 }
  const ring = [
    [
      [0, 0],
      [1.000000123, 0],
      [1, 1.25],
      [0, 0],
    ],
  ]
  const { zone } = await post('/api/zones', { name: 'Harbour', shape: circle })
  await post('/api/zones', { name: 'Field', shape: { type: 'Polygon', coordinates: ring } })
  await post('/api/rules', {
    name: 'In',
    when: { type: 'enters', zones: [zone.id] },
    cooldownMinutes: 30,
  })
  await post('/api/rules', { name: 'Silent', when: { type: 'silent', minutes: 600 } })
  const { source, url } = await post('/api/sources', { name: 'Phone', provider: 'osmand' })
  await exports.default.fetch(`${ORIGIN}${new URL(url).pathname}?id=IMEI-7&lat=0&lon=0`)
  await exports.default.fetch(
    `${ORIGIN}${new URL(url).pathname}?id=IMEI-7&lat=38.7&lon=-9.2&speed=3&batt=71`,
  )
  await post('/api/webhooks', { url: 'https://receiver.example/archive/ok', events: ['alert.*'] })
  await post('/api/watches', { name: 'Crossing', deviceId: gull, everyMinutes: 60 })
  const at = Date.now() - 3_600_000
  const locations = Array.from({ length: 1500 }, (_, index) => ({
    dateTime: iso(at + index * 1000),
    latitude: 38.7223 + index / 1e6,
    longitude: -9.1393000000123 - index / 3e5,
    ...(index % 5 === 0 && { fuel: index / 7, attributes: { ñ: ['a,\n', { b: null }] } }),
    ...(index % 3 === 0 && { altitude: 12.345678, speed: 7.5, source: 'gnss' }),
  }))
  for (const from of [0, 1000])
    await post(`/api/devices/${gull}/locations`, { locations: locations.slice(from, from + 1000) })
  const { alert } = await post(`/api/devices/${gull}/alerts`, {
    alertName: 'SOSButton',
    latitude: 38.72231234567891,
    longitude: -9.13930000001,
  })
  await post(`/api/alerts/${alert.id}/acknowledge`)
  await post(`/api/alerts/${alert.id}/notes`, { text: 'On its way.' })
  await post(`/api/devices/${gull}/sendCommand`, { command: 'Hello', sms: true })
  await ok(
    account.call('PATCH', '/api/account', {
      body: {
        emergencyContacts: [{ name: 'Office', phone: '+881632000001' }],
        timeZone: 'Europe/Lisbon',
      },
    }),
  )
  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, {
    body: { budgets: { maxUsers: 7 }, statusMessage: 'Hello' },
  })
  await eventually(async () => {
    const { messages } = await ok(account.call('GET', '/api/account/messages'))
    expect(messages.filter(({ status }: { status: string }) => status === 'queued')).toEqual([])
  })
  return {
    tern,
    gull,
    old,
    group: group.id as string,
    user: user.id as string,
    source,
    zone,
    alert,
  }
}
