import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { caller, getToken } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

const run = promisify(execFile)
const authorization = { Authorization: `Bearer ${adminToken}` }

const exportAccount = async (base, id) => {
  const response = await fetch(`${base}/admin/accounts/${id}/export`, {
    method: 'POST',
    headers: authorization,
  })
  assert.equal(response.status, 200)
  return Buffer.from(await response.arrayBuffer())
}

/** What `npm run import` does. */
const importFile = (file, base) =>
  run('node', ['scripts/import/import.ts', file, '--url', base], {
    env: { ...process.env, ADMIN_TOKEN: adminToken },
  })

/** Takes accounts from one installation to another, and compares what both export. */
export async function moveToInstallation({ from, to, accountIds, folder }, step) {
  for (const id of accountIds) {
    const archive = await exportAccount(from, id)
    const file = join(folder, `${id}.tar.gz`)
    writeFileSync(file, archive)
    const { stdout } = await importFile(file, to)
    const [, apiKey] = /API key, .*: (\S+)/.exec(stdout)
    assert.ok((await exportAccount(to, id)).equals(archive), 'both export the same bytes')
    step(`an archive of ${archive.length} bytes: export, import and export give the same bytes`)
    const { account } = await caller(to, adminToken)('GET', `/admin/accounts/${id}`)
    const call = caller(to, await getToken(to, account.userName, apiKey))
    const { device } = await call('POST', '/api/devices', { name: 'After the import' })
    assert.equal((await call('GET', `/api/devices/${device.id}`)).device.name, device.name)
    await assert.rejects(importFile(file, to), /exists already/)
  }
  step('the account works there, and a second import is refused')
}
