/** Members of a log line. Never coordinates, phone numbers, e-mail addresses or keys. */
type LogFields = Record<string, string | number | boolean | null | undefined>

const METHOD = { info: 'log', warn: 'warn', error: 'error' } as const

/** Writes one JSON line. */
export const log = (level: keyof typeof METHOD, fields: LogFields): void =>
  console[METHOD[level]](JSON.stringify({ level, ...fields }))

/** Drizzle wraps an error of D1 in one whose message holds the bound values. */
const rootCause = (error: Error): Error =>
  error.cause instanceof Error ? rootCause(error.cause) : error

const MAX_MESSAGE_LENGTH = 500
const MAX_FRAMES = 12

/** Texts that may hold personal data, and what stands for them. */
const REDACTIONS: [RegExp, string][] = [
  // Drizzle's list of bound values, when only the text of its error is left.
  [/\bparams:.*$/is, 'params: …'],
  [/\bvalue '.*'/gis, "value '…'"],
  [/[^\s"'<>(]+@[^\s"'<>)]+/g, '…'],
  [/\b(pg[ko]_|whsec_|eyJ)[\w.-]+/g, '$1…'],
  [/-?\d+\.\d+/g, '…'],
  [/\+?\d{7,}/g, '…'],
]

/** The message without values. JSON's own errors quote the text that they are about. */
const messageOf = (error: Error): string => {
  const text = error instanceof SyntaxError ? error.message.split(/["']/, 1)[0] : error.message
  return REDACTIONS.reduce(
    (message, [pattern, replacement]) => message.replace(pattern, replacement),
    text ?? '',
  ).slice(0, MAX_MESSAGE_LENGTH)
}

/** Where the error was thrown, without its message, which the stack begins with. */
const stackOf = (error: Error): string =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim())
    .join('\n')

/** What a log line says about an error: enough to find its cause, and no personal data. */
export const errorFields = (error: unknown): LogFields => {
  if (!(error instanceof Error)) return { error: 'unknown' }
  const cause = rootCause(error)
  return { error: cause.name, message: messageOf(cause), stack: stackOf(error) }
}

/** Logs failed background work. */
export const logFailure = (event: string, error: unknown, fields: LogFields = {}): void =>
  log('error', { event, ...fields, ...errorFields(error) })
