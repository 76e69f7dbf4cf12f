// Installs the packed package, and uses `perigee` as people and scripts do.
import { spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { packClient } from '../typescript/pack.mjs'

const MINUTE_MS = 60_000
const POINTS = 5000

const check = (condition, text) => {
  if (!condition) throw new Error(text)
}

/** A track of one point a minute that ended yesterday. */
const gpxOf = (count) => {
  const first = Date.now() - 86_400_000 - count * MINUTE_MS
  const points = Array.from({ length: count }, (_, index) => {
    const time = new Date(first + index * MINUTE_MS).toISOString()
    return `<trkpt lat="${(38 + index / 1e4).toFixed(4)}" lon="-9.1"><ele>5</ele><time>${time}</time></trkpt>`
  })
  return `<?xml version="1.0"?><gpx version="1.1" creator="test"><trk><trkseg>${points.join('\n')}</trkseg></trk></gpx>`
}

export async function run({ url, root, folder, must, openAccount }) {
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const options = ['--no-audit', '--no-fund', '--loglevel=error']
  await must('npm', ['install', ...options, packClient(root, folder)], { cwd: folder })
  const bin = join(folder, 'node_modules/.bin/perigee')
  const { userName, apiKey } = await openAccount({ userName: 'cli', licenses: 3 })
  const env = { ...process.env, XDG_CONFIG_HOME: join(folder, 'config'), HOME: folder }
  for (const name of ['PERIGEE_URL', 'PERIGEE_USER_NAME', 'PERIGEE_API_KEY']) delete env[name]
  const file = (name, text) => {
    writeFileSync(join(folder, name), text)
    return name
  }

  /** Runs the command line; throws unless it ends with this code. Returns what it wrote. */
  const perigee = (args, { code = 0, input = '', more = {} } = {}) => {
    const options = { cwd: folder, env: { ...env, ...more }, input, encoding: 'utf8' }
    const { status, stdout, stderr } = spawnSync(bin, args, { ...options, timeout: 2 * MINUTE_MS })
    const all = `perigee ${args.join(' ')} ended with ${status}, not ${code}:\n${stdout}${stderr}`
    check(status === code, all)
    check(!/\n\s+at /.test(stderr), `A stack is shown:\n${stderr}`)
    check(!`${stdout}${stderr}`.includes(apiKey), 'The API key is shown.')
    return { stdout, stderr, lines: stdout.trimEnd().split('\n') }
  }
  const expectText = (text, pattern) => check(pattern.test(text), `${pattern} is not in:\n${text}`)

  expectText(perigee(['--help']).stdout, /import\s+Import the history/)
  expectText(perigee([], { code: 2 }).stderr, /Usage/)
  expectText(perigee(['--version']).stdout, /^\d+\.\d+\.\d+\n$/)
  const commands = ['login', 'logout', 'devices', 'track', 'report', 'tail', 'import', 'export']
  for (const command of [...commands, 'completion'])
    expectText(perigee([command, '--help']).stdout, new RegExp(`perigee ${command}`))
  expectText(perigee(['device'], { code: 2 }).stderr, /Do you mean “devices”\?/)
  expectText(perigee(['devices', '--stat'], { code: 2 }).stderr, /Do you mean --state\?/)

  // Signing in.
  expectText(perigee(['devices'], { code: 3 }).stderr, /not signed in. Run perigee login/)
  const login = ['login', '--url', url, '--user-name', userName]
  const wrong = perigee(login, { code: 3, input: `${apiKey.slice(0, -4)}abcd\n` })
  expectText(wrong.stderr, /^perigee: .+ Run perigee login\.\n/)
  const unreachable = ['login', '--url', 'http://127.0.0.1:59', '--user-name', userName]
  expectText(
    perigee(unreachable, { code: 4, input: apiKey }).stderr,
    /cannot be reached \(ECONNREFUSED\)/,
  )
  perigee(['login', '--url', 'http://perigee.test', '--user-name', 'a'], { code: 2, input: 'k' })
  expectText(perigee(login, { input: `${apiKey}\n` }).stdout, /^Signed in to .*admin/)
  check(
    (statSync(join(folder, 'config/perigee/credentials.json')).mode & 0o777) === 0o600,
    'Others can read the key.',
  )

  // Devices from a file: first without changes, then twice.
  const list = file('devices.csv', 'name,identifier,tag:fleet\nTern 7,IMEI-7,north\n"Tern, 8",,\n')
  expectText(perigee(['import', list, '--dry-run']).stdout, /2 would be created, 0 exist/)
  check(perigee(['devices', '--json']).stdout === '', 'A dry run has created a device.')
  expectText(perigee(['import', 'devices', list]).stdout, /^2 devices created, 0 existed/)
  expectText(perigee(['import', list]).stdout, /^0 devices created, 2 existed/)
  const many = file('many.csv', `name\n${Array.from({ length: 9 }, (_, n) => `n${n}`).join('\n')}`)
  expectText(perigee(['import', many], { code: 1 }).stderr, /too few licenses/)
  const bad = file('bad.csv', 'name,maxSpeed\na,fast\n')
  expectText(perigee(['import', bad], { code: 1 }).stderr, /line 2: maxSpeed/)
  const listed = perigee(['devices', '--json']).lines.map((line) => JSON.parse(line))
  check(
    listed.map(({ name }) => name).join() === 'Tern 7,Tern, 8' && listed[0].tags.fleet === 'north',
    'The devices are not those of the file.',
  )
  expectText(perigee(['devices', 'tern']).stdout, /^NAME +IDENTIFIER[\s\S]*Tern 7 +IMEI-7 +active/)

  // The history of a device.
  const gpx = file('track.gpx', gpxOf(POINTS))
  const import_ = ['import', 'gpx', gpx, '--device', 'IMEI-7']
  expectText(perigee([...import_, '--dry-run']).stdout, /^5,000 locations from .*\n.*dry run/)
  expectText(perigee(import_).stdout, /5,000 stored\n/)
  const again = JSON.parse(perigee([...import_, '--json']).stdout)
  check(again.accepted === 0 && again.duplicates === POINTS, 'A repeat has changed something.')
  expectText(perigee(['import', gpx], { code: 2 }).stderr, /Name the device with --device/)
  expectText(
    perigee(['import', gpx, '--device', 'none'], { code: 1 }).stderr,
    /no device with the id, identifier or name “none”/,
  )
  const cut = file('cut.gpx', readFileSync(join(folder, gpx), 'utf8').slice(0, -9))
  expectText(perigee(['import', cut, '--device', 'IMEI-7'], { code: 1 }).stderr, /ends within/)
  perigee(['import', 'gpx', 'missing.gpx', '--device', 'IMEI-7'], { code: 1 })

  // Every format that is written can be read by another device.
  const since = new Date(Date.now() - 2 * 86_400_000).toISOString()
  let written = 0
  for (const format of ['gpx', 'csv', 'kml', 'geojson']) {
    const name = `out.${format}`
    const args = ['track', 'Tern 7', `--${format}`, '--from', since]
    perigee([...args, '--output', name])
    check(
      perigee(args).stdout === readFileSync(join(folder, name), 'utf8'),
      `A file and stdout differ as ${format}.`,
    )
    const reply = perigee(['import', name, '--device', 'tern, 8', '--json'])
    const { accepted, duplicates, conflicts } = JSON.parse(reply.stdout)
    written ||= accepted
    const isSame = accepted + duplicates === written && conflicts === 0
    check(
      written > 1000 && isSame && accepted === (format === 'gpx' ? written : 0),
      `${format}: ${reply.stdout}`,
    )
  }
  const locations = perigee(['track', 'Tern 7', '--from', '30d', '--json']).lines
  check(
    locations.length === POINTS && JSON.parse(locations[0]).latitude === 38,
    'The track is not what was imported.',
  )
  const head = `"${bin}" track "Tern 7" --from 30d --json | head -n 2 | wc -l`
  const piped = spawnSync('bash', ['-c', `set -o pipefail; ${head}`], { cwd: folder, env })
  check(String(piped.stdout).trim() === '2' && String(piped.stderr) === '', String(piped.stderr))

  // Events as they happen, and reports.
  const events = await tailWhile({ bin, env, folder }, () => {
    perigee(['report', 'Tern 7', '--latitude', '38.5', '--longitude', '-9.25', '--speed', '12'])
    const line = { identifier: 'imei-7', latitude: 1, longitude: 2 }
    const dateTime = (seconds) => new Date(Date.now() - seconds * 1000).toISOString()
    const lines = [30, 20, 10].map((seconds) => ({ ...line, dateTime: dateTime(seconds) }))
    const input = lines.map((value) => `${JSON.stringify(value)}\n`).join('')
    expectText(perigee(['report', '-'], { input }).stdout, /^3 stored/)
  })
  check(
    events.some(
      ({ type, data }) => type === 'location.reported' && data.location.longitude === -9.25,
    ),
    `The report is not among ${events.length} events.`,
  )
  expectText(
    perigee(['report', '-'], { code: 1, input: '{"identifier":"none","latitude":1}\n' }).stderr,
    /line 1: dateTime/,
  )
  expectText(perigee(['report', '-'], { code: 2, input: 'x\n' }).stderr, /Line 1 .* not JSON/)
  expectText(
    perigee(['report', 'Tern 7', '--latitude', '91', '--longitude', '0'], { code: 1 }).stderr,
    /latitude must be at most 90/,
  )

  // The account as an archive.
  perigee(['export', '--output', 'account.tar.gz'])
  const archive = gunzipSync(readFileSync(join(folder, 'account.tar.gz'))).toString('latin1')
  check(archive.includes('manifest.json'), 'The archive has no manifest.')

  // Credentials of the environment, which a service without a network does not get.
  const more = { PERIGEE_URL: url, PERIGEE_USER_NAME: userName, PERIGEE_API_KEY: apiKey }
  perigee(['devices'], { more: { ...more, XDG_CONFIG_HOME: join(folder, 'none') } })
  perigee(['devices'], { code: 3, more: { PERIGEE_URL: url } })
  for (const command of ['devices', 'tail'])
    perigee([command], { code: 4, more: { ...more, PERIGEE_URL: 'http://127.0.0.1:59' } })
  perigee(['tail'], { code: 3, more: { ...more, PERIGEE_API_KEY: `${apiKey.slice(0, -4)}abcd` } })
  expectText(perigee(['logout']).stdout, /deleted/)
  perigee(['devices'], { code: 3 })
  for (const shell of ['bash', 'zsh', 'fish']) perigee(['completion', shell])
  rmSync(join(folder, 'config'), { recursive: true })
}

/** The events that `tail` writes while something happens, until Ctrl-C. */
async function tailWhile({ bin, env, folder }, act) {
  const child = spawn(bin, ['tail', '--json', '--type', 'location.*'], { cwd: folder, env })
  let text = ''
  let errors = ''
  child.stdout.on('data', (part) => {
    text += part
  })
  child.stderr.on('data', (part) => {
    errors += part
  })
  const ended = new Promise((resolve) => child.on('exit', (code) => resolve(code)))
  const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
  await wait(3000)
  act()
  for (let tries = 0; text.split('\n').length < 3 && tries < 30; tries++) await wait(500)
  child.kill('SIGINT')
  const code = await ended
  check(code === 130 && errors === '', `tail ended with ${code}: ${errors}`)
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
