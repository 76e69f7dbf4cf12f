import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { type Perigee, PerigeeError } from '../../src/index.ts'
import { textOf } from '../arguments.ts'
import type { Command } from '../command.ts'
import { checkUrl, deleteCredentials, storeCredentials } from '../credentials.ts'
import { EXIT, usageFailure } from '../failure.ts'
import { newClient, noteSandbox } from '../session.ts'
import { writeJson, writeLine } from '../terminal/output.ts'
import { toLine } from '../terminal/text.ts'

const MAX_KEY_BYTES = 4096

/** Asks on stderr, so that a pipe of stdout has no question. A secret is not shown. */
const ask = (question: string, { isSecret = false } = {}): Promise<string> => {
  let isMuted = false
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isMuted) process.stderr.write(chunk)
      done()
    },
  })
  const reader = createInterface({ input: process.stdin, output, terminal: true })
  return new Promise((resolve, reject) => {
    reader.on('SIGINT', () => process.emit('SIGINT'))
    reader.on('close', () => reject(usageFailure('Nothing was entered.')))
    reader.question(question, (answer) => {
      resolve(answer.trim())
      reader.close()
      if (isSecret) process.stderr.write('\n')
    })
    isMuted = isSecret
  })
}

const readKeyFromPipe = async (): Promise<string> => {
  let text = ''
  for await (const part of process.stdin) {
    text += part
    if (text.length > MAX_KEY_BYTES) throw usageFailure('The API key on stdin is too long.')
  }
  return text.trim()
}

const isTerminal = (): boolean => process.stdin.isTTY === true

const askUnlessGiven = async (given: string | undefined, option: string, question: string) => {
  if (given) return given
  if (!isTerminal()) throw usageFailure(`Give --${option}.`)
  const answer = await ask(question)
  if (!answer) throw usageFailure(`Give --${option}.`)
  return answer
}

/** Who the key is for. A key that may only report is not allowed to ask. */
const readAccount = async (perigee: Perigee, signal: AbortSignal) => {
  try {
    const { account, scopes } = await perigee.get('/api/me', { signal })
    return { name: account.name, sandbox: account.sandbox, scopes }
  } catch (error) {
    if (error instanceof PerigeeError && error.status === 403)
      return { name: null, sandbox: null, scopes: ['ingest'] }
    throw error
  }
}

export const login: Command = {
  name: 'login',
  summary: 'Sign in with an API key, and keep it for later commands.',
  usage: [
    'login [--url ADDRESS] [--user-name NAME]',
    'login --url ADDRESS --user-name NAME < file-with-the-key',
  ],
  maxPositionals: 0,
  options: {
    url: { type: 'string', value: 'ADDRESS', about: 'The address of the service.' },
    'user-name': { type: 'string', value: 'NAME', about: 'The user name of the account.' },
  },
  details: [
    'The API key is asked for, or read from stdin; no option takes it, since other users of the machine',
    'can read command lines. It is kept in a file that only you can read.',
  ],
  run: async ({ values, isJson, signal }) => {
    const url = checkUrl(
      await askUnlessGiven(
        textOf(values, 'url') ?? process.env.PERIGEE_URL,
        'url',
        'Address of the service: ',
      ),
    )
    const userName = await askUnlessGiven(
      textOf(values, 'user-name') ?? process.env.PERIGEE_USER_NAME,
      'user-name',
      'User name: ',
    )
    const apiKey = isTerminal()
      ? await ask('API key (not shown): ', { isSecret: true })
      : await readKeyFromPipe()
    if (!apiKey) throw usageFailure('The API key is empty.')
    const credentials = { url, userName, apiKey }
    const { name, sandbox, scopes } = await readAccount(newClient(credentials), signal)
    const file = await storeCredentials(credentials)
    if (isJson) await writeJson({ url, userName, account: name, scopes, file })
    else {
      await writeLine(
        `Signed in to ${toLine(name ?? userName)} (${scopes.join(', ')}). The key is in ${file}.`,
      )
      noteSandbox(sandbox)
    }
    return EXIT.ok
  },
}

export const logout: Command = {
  name: 'logout',
  summary: 'Delete the stored API key from this machine.',
  usage: ['logout'],
  maxPositionals: 0,
  options: {},
  details: ['The key itself stays valid until it is deleted in the console.'],
  run: async ({ isJson }) => {
    const wasSignedIn = await deleteCredentials()
    if (isJson) await writeJson({ deleted: wasSignedIn })
    else await writeLine(wasSignedIn ? 'The stored key is deleted.' : 'You were not signed in.')
    return EXIT.ok
  },
}
