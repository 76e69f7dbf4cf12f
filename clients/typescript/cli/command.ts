import type { Perigee } from '../src/perigee.ts'
import { GLOBAL_OPTIONS, type Option, type Options, type Values } from './arguments.ts'
import type { ExitCode } from './failure.ts'

export interface Context {
  values: Values
  positionals: string[]
  isJson: boolean
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
  /** A client with the credentials of the environment or of `perigee login`. */
  open: () => Promise<Perigee>
}

export interface Command {
  name: string
  summary: string
  /** Forms of the command line, without `perigee`. */
  usage: readonly string[]
  options: Options
  /** How many names, files and words it takes. */
  maxPositionals: number
  /** Words that may follow the name. */
  words?: readonly string[]
  details?: readonly string[]
  run: (context: Context) => Promise<ExitCode | undefined>
}

const optionLine = (name: string, { short, value, type, about, choices }: Option): string => {
  const flag = `${short ? `-${short}, ` : ''}--${name}${type === 'string' ? ` ${value ?? 'TEXT'}` : ''}`
  const values = choices ? ` One of ${choices.join(', ')}.` : ''
  return `  ${flag.padEnd(26)} ${about}${values}`
}

export const helpOf = ({ summary, usage, options, details }: Command): string =>
  [
    summary,
    '',
    'Usage:',
    ...usage.map((form) => `  perigee ${form}`),
    '',
    'Options:',
    ...Object.entries({ ...options, ...GLOBAL_OPTIONS }).map(([name, option]) =>
      optionLine(name, option),
    ),
    ...(details ? ['', ...details] : []),
  ].join('\n')

export const generalHelp = (commands: readonly Command[]): string =>
  [
    'perigee: devices, tracks and live events of Perigee on the command line.',
    '',
    'Usage:',
    '  perigee COMMAND [OPTIONS]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`),
    '',
    '“perigee COMMAND --help” describes a command. With --json every command writes JSON, one value a',
    'line. Credentials come from “perigee login”, or from PERIGEE_URL, PERIGEE_USER_NAME and',
    'PERIGEE_API_KEY.',
    '',
    'Exit codes: 0 done, 1 refused or incomplete, 2 wrong usage, 3 not signed in or not allowed,',
    '4 service not reachable, 130 interrupted.',
  ].join('\n')
