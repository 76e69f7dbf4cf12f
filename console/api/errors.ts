import { PerigeeError } from '../../clients/typescript/src/error.ts'

/** Of an unexpected error alone: nobody has to look up why a call was refused. */
export const shownRequestId = ({ status, requestId }: PerigeeError): string | null =>
  status >= 500 ? requestId : null

/** What is wrong with a member of the body, by its JSON Pointer; of a list, with an entry too. */
export const errorAt = (
  { errors }: PerigeeError,
  pointer: string,
  isList = false,
): string | null => {
  const isAt = (at: string) => at === pointer || (isList && at.startsWith(`${pointer}/`))
  return errors.find((error) => isAt(error.pointer))?.detail ?? null
}

export const isAborted = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

export const toError = (error: unknown): PerigeeError =>
  error instanceof PerigeeError
    ? error
    : new PerigeeError(String((error as Error)?.message ?? error), { status: -1 })
