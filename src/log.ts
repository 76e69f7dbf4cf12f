/** Members of a log line. Never coordinates, phone numbers, e-mail addresses or keys. */
type LogFields = Record<string, string | number | boolean | null | undefined>

const METHOD = { info: 'log', warn: 'warn', error: 'error' } as const

/** Writes one JSON line. */
export const log = (level: keyof typeof METHOD, fields: LogFields): void =>
  console[METHOD[level]](JSON.stringify({ level, ...fields }))

/** Logs failed background work. Only the error's class: its message may hold personal data. */
export const logFailure = (event: string, error: unknown, fields: LogFields = {}): void =>
  log('error', { event, ...fields, error: error instanceof Error ? error.name : 'unknown' })
