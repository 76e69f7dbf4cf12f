import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { numberOf, parseOptions, timeOf } from '../../../clients/typescript/cli/arguments.ts'
import { helpOf } from '../../../clients/typescript/cli/command.ts'
import { completionOf, SHELLS } from '../../../clients/typescript/cli/commands/completion.ts'
import {
  checkUrl,
  credentialsFile,
  deleteCredentials,
  readCredentials,
  storeCredentials,
} from '../../../clients/typescript/cli/credentials.ts'
import { ArchiveCheck } from '../../../clients/typescript/cli/formats/archive.ts'
import { barOf, Progress } from '../../../clients/typescript/cli/terminal/progress.ts'
import { tableLines } from '../../../clients/typescript/cli/terminal/table.ts'
import { cutTo, toLine, widthOf } from '../../../clients/typescript/cli/terminal/text.ts'
import { END_OF_ARCHIVE, packFile } from '../../../src/domain/archive/tar.ts'

const folder = mkdtempSync(join(tmpdir(), 'perigee-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const OPTIONS = {
  longitude: { type: 'string', about: 'East.' },
  state: { type: 'string', about: 'Which.', choices: ['active', 'expired'] },
  'dry-run': { type: 'boolean', about: 'No change.' },
} as const

test('options take negative numbers, and mistakes are explained', () => {
  const { values, positionals } = parseOptions(['Tern', '--longitude', '-9.1', '--json'], OPTIONS)
  expect([numberOf(values, 'longitude'), values.json, positionals]).toEqual([-9.1, true, ['Tern']])
  const mistakes = [
    ['--dryrun'],
    ['--longitude'],
    ['--dry-run=yes'],
    ['--state', 'gone'],
    ['--nothing'],
  ]
  const messages = mistakes.map((given) => {
    try {
      return parseOptions(given, OPTIONS)
    } catch (error) {
      return (error as Error).message
    }
  })
  expect(messages).toEqual([
    'There is no option --dryrun. Do you mean --dry-run?',
    'The option --longitude needs a value.',
    'The option --dry-run takes no value.',
    '--state must be one of active, expired.',
    'There is no option --nothing.',
  ])
  expect(() => parseOptions(['Tern', '7', '--dry-run'], OPTIONS, 1)).toThrow(
    '“7” is one argument too many.',
  )
  expect(() => numberOf({ longitude: 'x' }, 'longitude')).toThrow('--longitude must be a number.')
})

test('a time is absolute, or how long ago', () => {
  const now = Date.UTC(2020, 0, 2)
  const read = (from: string) => timeOf({ from }, 'from', now)
  const texts = ['12h', '1d', '2020-01-01', '2020-01-01T10:00+02:00', '2020-01-01 10:00']
  expect(texts.map(read)).toEqual([
    '2020-01-01T12:00:00.000Z',
    '2020-01-01T00:00:00.000Z',
    '2020-01-01T00:00:00.000Z',
    '2020-01-01T08:00:00.000Z',
    '2020-01-01T10:00:00.000Z',
  ])
  for (const text of ['soon', '7', '01/02/2020', '2020-02-30', '2020-02-30T10:00Z'])
    expect(() => read(text)).toThrow('--from must be a time')
})

test('a table fits its terminal, and no text of a device controls it', () => {
  const rows = [
    { name: 'Tern \u001b[2J7', speed: 12 },
    { name: '観測船 七号 with a long name', speed: 3 },
  ]
  const columns = [
    { title: 'NAME', value: ({ name }: { name: string }) => name },
    { title: 'KM/H', value: ({ speed }: { speed: number }) => speed, isNumber: true },
  ]
  const lines = tableLines(rows, columns, 20)
  expect(lines).toEqual(['NAME            KM/H', 'Tern  [2J7        12', '観測船 七号 w…     3'])
  expect(lines.every((line) => widthOf(line) <= 20)).toBe(true)
  expect(tableLines(rows, columns)[2]).toContain('with a long name')
  expect([toLine('a\u202eb\nc'), cutTo('abcdef', 4)]).toEqual(['a b c', 'abc…'])
})

test('progress is drawn on a terminal alone', () => {
  let text = ''
  const write = (part: string) => {
    text += part
  }
  new Progress({ write }, 'Importing').update('1 of 2', 0.5)
  expect(text).toBe('')
  const progress = new Progress({ isTTY: true, columns: 80, write }, 'Importing')
  progress.update('2 of 2', 1)
  expect(text).toContain(`Importing  ${barOf(1)} 100 %  2 of 2`)
  progress.end()
  expect(text.endsWith('\r\x1b[K')).toBe(true)
})

const command = {
  name: 'devices',
  summary: "List devices' positions.",
  usage: ['devices'],
  maxPositionals: 1,
  options: OPTIONS,
  run: async () => undefined,
}

test('help and completion name every option', () => {
  expect(helpOf(command)).toContain('--state TEXT')
  for (const shell of SHELLS) {
    const script = completionOf(shell, [command]) ?? ''
    for (const option of ['longitude', 'state', 'dry-run', 'json']) expect(script).toContain(option)
    if (spawnSync(shell, ['--version']).error) continue
    expect(spawnSync(shell, ['-n'], { input: script, encoding: 'utf8' })).toMatchObject({
      status: 0,
      stderr: '',
    })
  }
  const types = { type: { type: 'string', multiple: true, about: 'Only these.' } } as const
  expect(completionOf('zsh', [{ ...command, options: types }])).toContain("'*--type[Only these.]")
  const bash = `${completionOf('bash', [command])}
COMP_WORDS=(perigee devices --state e) COMP_CWORD=3; _perigee; echo "\${COMPREPLY[*]}"
COMP_WORDS=(perigee d) COMP_CWORD=1; _perigee; echo "\${COMPREPLY[*]}"
COMP_WORDS=(perigee devices --d) COMP_CWORD=2; _perigee; echo "\${COMPREPLY[*]}"`
  const { stdout } = spawnSync('bash', ['--norc'], { input: bash, encoding: 'utf8' })
  expect(stdout).toBe('expired\ndevices\n--dry-run\n')
})

test('credentials are kept for their owner alone', async () => {
  const environment = { XDG_CONFIG_HOME: join(folder, 'config') }
  const credentials = { url: 'https://perigee.test', userName: 'demo', apiKey: 'pgk_1' }
  await expect(readCredentials(environment)).rejects.toThrow('You are not signed in.')
  const file = await storeCredentials(credentials, environment)
  await storeCredentials(credentials, environment)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
  expect(await readCredentials(environment)).toEqual(credentials)
  writeFileSync(file, '{}')
  await expect(readCredentials(environment)).rejects.toThrow('is damaged')
  expect(await deleteCredentials(environment)).toBe(true)
  expect(await deleteCredentials(environment)).toBe(false)
})

test('a stored key goes to no address but its own', async () => {
  const environment = { XDG_CONFIG_HOME: join(folder, 'other') }
  await storeCredentials(
    { url: 'https://perigee.test', userName: 'demo', apiKey: 'pgk_1' },
    environment,
  )
  const elsewhere = { ...environment, PERIGEE_URL: 'https://elsewhere.test' }
  await expect(readCredentials(elsewhere)).rejects.toThrow(
    'Set PERIGEE_USER_NAME and PERIGEE_API_KEY too',
  )
  const whole = { ...elsewhere, PERIGEE_USER_NAME: 'a', PERIGEE_API_KEY: 'b' }
  expect(await readCredentials(whole)).toEqual({
    url: 'https://elsewhere.test',
    userName: 'a',
    apiKey: 'b',
  })
  expect(credentialsFile(environment)).toBe(join(folder, 'other/perigee/credentials.json'))
})

test('a key is not sent in clear over a network', () => {
  expect(checkUrl('perigee.test/path')).toBe('https://perigee.test')
  expect(checkUrl('localhost:8787')).toBe('http://localhost:8787')
  expect(checkUrl('http://localhost:8787/')).toBe('http://localhost:8787')
  for (const address of ['http://perigee.test', 'http://localhost.perigee.test', 'http://[::2]'])
    expect(() => checkUrl(address)).toThrow('must begin with https://')
  expect(() => checkUrl('https://')).toThrow('is not an address')
})

test('an archive is complete only with its manifest and its end', async () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const account = packFile('account.json', bytes('x'.repeat(3000)))
  const manifest = packFile('manifest.json', bytes('{}'))
  const whole = gzipSync(Buffer.concat([account, manifest, END_OF_ARCHIVE]))
  const isComplete = async (archive: Buffer) => {
    const check = new ArchiveCheck()
    for (let at = 0; at < archive.length; at += 7) await check.add(archive.subarray(at, at + 7))
    return check.isComplete()
  }
  expect(await isComplete(whole)).toBe(true)
  expect(await isComplete(whole.subarray(0, -9))).toBe(false)
  expect(await isComplete(gzipSync(Buffer.concat([account, END_OF_ARCHIVE])))).toBe(false)
  expect(await isComplete(Buffer.from('{"success":false}'))).toBe(false)
})
