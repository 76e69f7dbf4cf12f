// npm run import -- archive.tar.gz … --url https://… [--user-name other] [--cell n]
// npm run import -- --traccar https://… --user-name name --country PT --url https://…
// Imports the archive of an export, or what a Traccar server has, with the token of the operator in
// ADMIN_TOKEN (or --token), and that of Traccar's administrator in TRACCAR_TOKEN (or
// --traccar-token): a token, or e-mail:password. Large archives are sent in several requests.
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGunzip, createGzip } from 'node:zlib'
import { unpackFiles } from '../../src/domain/archive/tar.ts'
import { checkArchive } from './checkArchive.ts'
import { joinArchives } from './joinArchives.ts'
import { sendArchive } from './sendArchive.ts'
import { readTraccar } from './traccar/traccar.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    url: { type: 'string', default: 'http://localhost:8787' },
    token: { type: 'string', default: process.env.ADMIN_TOKEN ?? '' },
    'user-name': { type: 'string' },
    cell: { type: 'string' },
    traccar: { type: 'string' },
    'traccar-token': { type: 'string', default: process.env.TRACCAR_TOKEN ?? '' },
    'time-zone': { type: 'string', default: 'UTC' },
    country: { type: 'string' },
    from: { type: 'string', default: new Date(Date.now() - 365 * 86_400_000).toISOString() },
    output: { type: 'string' },
  },
})

const fail = (message: string): never => {
  console.error(message)
  process.exit(1)
}

/** Writes the archive of a Traccar server, and returns its path. */
const fetchTraccar = async (server: string, folder: string): Promise<string> => {
  const file = values.output ?? join(folder, 'traccar.tar.gz')
  if (!values['traccar-token']) fail('Give the token of Traccar as TRACCAR_TOKEN.')
  const userName = values['user-name'] ?? fail('Name the account with --user-name.')
  const archive = readTraccar({
    server,
    token: values['traccar-token'],
    userName,
    timeZone: values['time-zone'],
    country: values.country ?? fail('Name the country of the users with --country.'),
    from: values.from,
    onProgress: (text) => console.log(`  ${text}`),
  })
  await pipeline(Readable.from(archive), createGzip(), createWriteStream(file))
  return file
}

const filesIn = (file: string) => {
  const source = createGunzip()
  // A file that cannot be read makes the reader of the archive fail.
  pipeline(createReadStream(file), source).catch(() => {})
  return unpackFiles(source)
}

if (!values.token) fail('Give the token of the operator as ADMIN_TOKEN or with --token.')
const folder = await mkdtemp(join(tmpdir(), 'perigee-import-'))
try {
  const files = values.traccar ? [await fetchTraccar(values.traccar, folder)] : positionals
  if (files.length === 0) fail('Name the archive, or a Traccar server with --traccar.')
  const archive = () => joinArchives(files.map((file) => () => filesIn(file)))
  // Nothing is sent of an archive that is not complete.
  for (const file of files) await checkArchive(filesIn(file))
  const { account, apiKey } = await sendArchive(archive(), {
    url: values.url,
    token: values.token,
    ...(!values.traccar && values['user-name'] && { userName: values['user-name'] }),
    ...(values.cell && { cell: values.cell }),
    onProgress: (count) => console.log(`  files stored: ${count}`),
  })
  console.log(`Imported ${account.name} (${account.userName}, ${account.id}).`)
  console.log(`Its first API key, which is shown only now: ${apiKey}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
} finally {
  await rm(folder, { recursive: true, force: true })
}
