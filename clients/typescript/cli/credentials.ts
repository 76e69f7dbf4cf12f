import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { EXIT, Failure } from './failure.ts'

export interface Credentials {
  url: string
  userName: string
  apiKey: string
}

type Environment = Readonly<Record<string, string | undefined>>

const VARIABLES = {
  url: 'PERIGEE_URL',
  userName: 'PERIGEE_USER_NAME',
  apiKey: 'PERIGEE_API_KEY',
} as const

/** In the user's folder of configurations. */
export const credentialsFile = (environment: Environment = process.env): string => {
  const folder =
    environment.XDG_CONFIG_HOME ||
    (process.platform === 'win32' && environment.APPDATA) ||
    join(homedir(), '.config')
  return join(folder, 'perigee', 'credentials.json')
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host)

/** The origin of an address that a key may be sent to: nobody can read it on its way. */
export const checkUrl = (text: string): string => {
  const scheme = isLoopback(text.replace(/:\d+\/?$/, '')) ? 'http' : 'https'
  const given = text.includes('://') ? text : `${scheme}://${text}`
  const url = URL.canParse(given) ? new URL(given) : null
  if (!url) throw new Failure(`“${text}” is not an address.`, EXIT.usage)
  if (url.protocol !== 'https:' && !isLoopback(url.hostname))
    throw new Failure(
      'The address must begin with https://, unless it is this machine.',
      EXIT.usage,
    )
  return url.origin
}

const isCredentials = (value: unknown): value is Credentials =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(VARIABLES).every(
    (name) => typeof (value as Record<string, unknown>)[name] === 'string',
  )

const readStored = async (environment: Environment): Promise<Credentials | null> => {
  const file = credentialsFile(environment)
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Failure(`${file} cannot be read: ${error.message}`, EXIT.credentials)
  })
  if (text === null) return null
  let parsed: unknown = null
  try {
    parsed = JSON.parse(text)
  } catch {}
  if (!isCredentials(parsed))
    throw new Failure(`${file} is damaged. Run perigee login again.`, EXIT.credentials)
  return parsed
}

/**
 * All three from the environment, or all three from the file: a stored key is never sent to an
 * address that a variable names.
 */
export const readCredentials = async (
  environment: Environment = process.env,
): Promise<Credentials> => {
  const names = Object.keys(VARIABLES) as (keyof Credentials)[]
  const missing = names.filter((name) => !environment[VARIABLES[name]])
  if (missing.length === 0) {
    const [url = '', userName = '', apiKey = ''] = names.map((name) => environment[VARIABLES[name]])
    return { url: checkUrl(url), userName, apiKey }
  }
  if (missing.length < names.length)
    throw new Failure(
      `Set ${missing.map((name) => VARIABLES[name]).join(' and ')} too, or none of the three.`,
      EXIT.credentials,
    )
  const stored = await readStored(environment)
  if (stored) return { ...stored, url: checkUrl(stored.url) }
  throw new Failure('You are not signed in. Run perigee login.', EXIT.credentials)
}

/** For its owner alone; replaced as a whole, so that it is never half written. */
export const storeCredentials = async (
  credentials: Credentials,
  environment: Environment = process.env,
): Promise<string> => {
  const file = credentialsFile(environment)
  const temporary = `${file}.${process.pid}`
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await rm(temporary, { force: true })
  await writeFile(temporary, `${JSON.stringify(credentials, null, 2)}\n`, {
    mode: 0o600,
    flag: 'wx',
  })
  await chmod(temporary, 0o600)
  await rename(temporary, file)
  return file
}

/** Returns whether there was a file. */
export const deleteCredentials = async (environment: Environment = process.env): Promise<boolean> =>
  rm(credentialsFile(environment)).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false
      throw error
    },
  )
