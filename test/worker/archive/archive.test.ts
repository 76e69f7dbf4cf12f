import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { PART_ORDER } from '../../../src/archive/exportAccount.ts'
import { callerWith, fetchToken, openAccount } from '../../support/accounts.ts'
import {
  countRows,
  eraseCompletely,
  exportAs,
  exportAsOperator,
  filesOf,
  fillAccount,
  importArchive,
  textOf,
} from '../../support/db/archive.ts'
import { createDevice } from '../../support/devices.ts'
import { createGroup } from '../../support/groups.ts'
import { callAsOperator } from '../../support/http.ts'
import { createUser } from '../../support/users.ts'

describe('an export', () => {
  test('has everything of the account, and no secret', async () => {
    const account = await openAccount()
    const made = await fillAccount(account)
    const files = await filesOf(await exportAs(account.token))
    const names = files.map(({ name }) => name.split(/[-.]/)[0])
    expect(names.at(0)).toBe('account')
    expect(names.at(-1)).toBe('manifest')
    // Nothing is silent, and no alert was repeated or raised by a rule with a cooldown.
    const absent = ['silentDevices', 'ruleCooldowns', 'alertReports', 'drills', 'stays']
    expect([...new Set(names.slice(1, -1))]).toEqual(
      PART_ORDER.filter((part) => !absent.includes(part) || names.includes(part)),
    )
    const manifest = JSON.parse(textOf(files, 'manifest.json'))
    for (const { name, sha256, bytes } of manifest.files) {
      const file = files.find((each) => each.name === name)
      expect(file?.bytes.byteLength).toBe(bytes)
      const digest = await crypto.subtle.digest('SHA-256', file?.bytes as Uint8Array<ArrayBuffer>)
      expect(new Uint8Array(digest).toHex()).toBe(sha256)
    }
    const tracks = JSON.parse(textOf(files, 'tracks-00001.geojson'))
    expect(tracks.features).toHaveLength(1501)
    expect(tracks.features[0].properties.deviceId).toBe(made.tern)
    const all = files.map(({ bytes }) => new TextDecoder().decode(bytes)).join('\n')
    for (const secret of [account.apiKey, '"password":', '"hash":', '"link":', '"linkHash":'])
      expect(all).not.toContain(secret)
    const rows = await env.DB.prepare(
      'SELECT password FROM users WHERE account_id = ? AND password IS NOT NULL',
    )
      .bind(account.id)
      .all<{ password: string }>()
    expect(rows.results).toHaveLength(1)
    for (const { password } of rows.results) expect(all).not.toContain(password)
  })

  test('leaves out groups that are made meanwhile, with what refers to them', async () => {
    const account = await openAccount()
    const device = await createDevice(account)
    await createGroup(account, { name: 'Before', devices: [device] })
    const archive = await exportAs(account.token, '/api/account/export', async () => {
      await createGroup(account, { name: 'Meanwhile', devices: [device] })
      await createUser(account, { group: 'Before', name: 'Early' })
      await createUser(account, { group: 'Meanwhile', name: 'Late' })
    })
    const files = await filesOf(archive)
    expect(textOf(files, 'groups-00001.ndjson')).not.toContain('Meanwhile')
    expect(textOf(files, 'groupDevices-00001.ndjson').trim().split('\n')).toHaveLength(1)
    expect(textOf(files, 'users-00001.ndjson')).toContain('Early')
    expect(textOf(files, 'users-00001.ndjson')).not.toContain('Late')
    await eraseCompletely(account)
    const { status, text } = await importArchive(archive, { cell: '1' })
    expect(status, text).toBe(201)
  })
})

describe('export, import, export', () => {
  test('gives the same bytes on another installation, and an account that works', async () => {
    const account = await openAccount({ cell: 1 })
    const { gull, alert, source, group } = await fillAccount(account)
    const first = await exportAsOperator(account)
    const before = await account.call('GET', `/api/devices/${gull}`)
    await eraseCompletely(account)
    // Another number and another cell.
    await openAccount()
    const reply = await importArchive(first, { cell: '0' })
    expect(reply.status, reply.text).toBe(201)
    expect(reply.body.account).toMatchObject({ id: account.id, cell: 0, statusMessage: 'Hello' })
    expect(reply.body.account.licenses).toMatchObject({ total: 10, used: 2 })

    const second = await exportAsOperator(account)
    const [one, two] = [await filesOf(first), await filesOf(second)]
    for (const { name } of one) expect(textOf(two, name), name).toBe(textOf(one, name))
    expect(second).toEqual(first)

    const token = await fetchToken(account.userName, reply.body.apiKey)
    const { call } = callerWith(token)
    const { lastContact: _, ...device } = before.body.device
    expect((await call('GET', `/api/devices/${gull}`)).body.device).toMatchObject(device)
    const track = await call('GET', `/api/devices/${gull}/locations?limit=1000`)
    expect(track.body.locations).toHaveLength(1000)
    const members = (await call('GET', `/api/groups/${group}`)).body
    expect(members.devices).toContain(gull)
    const resolved = await call('POST', `/api/alerts/${alert.id}/resolve`)
    expect(resolved.body.alert.state).toBe('resolved')
    const rotated = await call('POST', `/api/sources/${source.id}/rotate`)
    expect(rotated.status).toBe(200)
    const created = await call('POST', '/api/devices', { body: { name: 'New' } })
    expect(created.status, created.text).toBe(201)
    // Events go on after the last one.
    const events = (await call('GET', '/api/events?limit=1000')).body.events
    const sequences = events.map(({ sequence }: { sequence: number }) => sequence)
    expect(sequences).toEqual(sequences.map((_: number, index: number) => sequences[0] + index))
  })

  test('is in the audit: the export in the account’s, the import in the operator’s', async () => {
    const account = await openAccount()
    const archive = await exportAs(account.token)
    const own = await account.call('GET', '/api/account/audit?action=account.exported')
    expect(own.body.entries).toHaveLength(1)
    expect(own.body.entries[0].resource).toEqual({ type: 'account', id: account.id })
    await eraseCompletely(account)
    const { body, text } = await importArchive(archive)
    expect(body.success, text).toBe(true)
    const token = await fetchToken(account.userName, body.apiKey)
    const later = await callerWith(token).call('GET', '/api/account/audit?action=account')
    const actions = later.body.entries.map(({ action }: { action: string }) => action)
    expect(actions).not.toContain('account.imported')
    const all = await callAsOperator('GET', '/admin/audit?action=account.imported')
    expect(all.body.entries[0].resource).toEqual({ type: 'account', id: account.id })
    const stored = await env.DB.prepare(
      `SELECT account_id FROM audit WHERE action = 'account.imported' AND resource_id = ?`,
    )
      .bind(account.id)
      .all()
    expect(stored.results).toEqual([{ account_id: '' }])
    expect(await countRows(account.id)).toMatchObject({ keys: 1, directory: 1 })
  })
})
