import { type ParseArgsConfig, parseArgs } from 'node:util'
import { usageFailure } from './failure.ts'
import { isDay, parseTime } from './formats/track.ts'

export interface Option {
  type: 'string' | 'boolean'
  /** What the value is: `FILE`, `TIME`. */
  value?: string
  about: string
  choices?: readonly string[]
  short?: string
  multiple?: boolean
}

export type Options = Readonly<Record<string, Option>>
export type Values = Record<string, string | boolean | string[] | undefined>

export const GLOBAL_OPTIONS = {
  json: { type: 'boolean', about: 'Write JSON, one value a line, for other programs.' },
  help: { type: 'boolean', short: 'h', about: 'Show help.' },
} as const satisfies Options

export interface Parsed {
  values: Values
  positionals: string[]
}

/** `--longitude -9.1`: a number is a value, although it begins like an option. */
const joinNegativeNumbers = (given: readonly string[], options: Options): string[] => {
  const joined: string[] = []
  for (const text of given) {
    const before = joined.at(-1)
    const name = before?.startsWith('--') ? before.slice(2) : undefined
    if (name !== undefined && options[name]?.type === 'string' && /^-[\d.]/.test(text))
      joined[joined.length - 1] = `${before}=${text}`
    else joined.push(text)
  }
  return joined
}

/** The option that was probably meant. */
const findSimilar = (name: string, options: Options): string | undefined =>
  Object.keys(options).find((known) => known.startsWith(name.slice(0, 3)) || name.startsWith(known))

const explain = (error: unknown, options: Options): Error => {
  const { code, message } = error as { code?: string; message: string }
  const name = /'(?:-\w, )?-{1,2}([\w-]+)/.exec(message)?.[1] ?? ''
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const similar = findSimilar(name, options)
    return usageFailure(
      `There is no option --${name}.${similar ? ` Do you mean --${similar}?` : ''}`,
    )
  }
  if (code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE')
    return usageFailure(
      options[name]?.type === 'boolean'
        ? `The option --${name} takes no value.`
        : `The option --${name} needs a value.`,
    )
  return error as Error
}

/** Throws a failure in plain words for what the options do not allow. */
export const parseOptions = (
  given: readonly string[],
  own: Options,
  maxPositionals = Number.POSITIVE_INFINITY,
): Parsed => {
  const options: Options = { ...own, ...GLOBAL_OPTIONS }
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, short, multiple }]) => [
      name,
      { type, ...(short && { short }), ...(multiple && { multiple }) },
    ]),
  ) as NonNullable<ParseArgsConfig['options']>
  let parsed: { values: Values; positionals: string[] }
  try {
    parsed = parseArgs({
      args: joinNegativeNumbers(given, options),
      options: config,
      allowPositionals: true,
    }) as Parsed
  } catch (error) {
    throw explain(error, options)
  }
  for (const [name, { choices }] of Object.entries(options)) {
    const value = parsed.values[name]
    if (choices && typeof value === 'string' && !choices.includes(value))
      throw usageFailure(`--${name} must be one of ${choices.join(', ')}.`)
  }
  const extra = parsed.positionals[maxPositionals]
  if (extra !== undefined)
    throw usageFailure(
      `“${extra}” is one argument too many. A name with spaces needs quotation marks: "Tern 7".`,
    )
  return { values: { ...parsed.values }, positionals: [...parsed.positionals] }
}

export const textOf = (values: Values, name: string): string | undefined => {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export const numberOf = (values: Values, name: string): number | undefined => {
  const text = textOf(values, name)
  if (text === undefined) return undefined
  const number = Number(text)
  if (text.trim() === '' || !Number.isFinite(number))
    throw usageFailure(`--${name} must be a number.`)
  return number
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A date, a date and time, in UTC unless it has an offset, or how long ago: `30m`, `12h`, `7d`. */
export const timeOf = (values: Values, name: string, now = Date.now()): string | undefined => {
  const text = textOf(values, name)
  if (text === undefined) return undefined
  const [, number, unit = ''] = /^(\d+)([mhd])$/.exec(text) ?? []
  if (number) return new Date(now - Number(number) * (UNITS[unit] ?? 0)).toISOString()
  const time = parseTime(isDay(text) ? `${text}T00:00Z` : text)
  if (time) return time
  throw usageFailure(
    `--${name} must be a time such as 2026-11-14T09:30Z or 2026-11-14, or 12h or 7d ago.`,
  )
}
