import type { Problem } from './types.ts'

/** A refused or failed call, with a sentence that can be shown. */
export class ApiError extends Error {
  readonly problem: Problem | null
  readonly status: number

  constructor(message: string, status: number, problem: Problem | null = null) {
    super(message)
    this.name = 'ApiError'
    this.problem = problem
    this.status = status
  }

  /** True if no answer came at all. */
  get isOffline(): boolean {
    return this.status === 0
  }

  get code(): string | null {
    return this.problem?.code ?? null
  }

  /** Of an unexpected error alone: nobody has to look up why a call was refused. */
  get requestId(): string | null {
    return this.status >= 500 ? (this.problem?.requestId ?? null) : null
  }

  /** What is wrong with a member of the body, by its JSON Pointer; of a list, with an entry too. */
  errorAt(pointer: string, isList = false): string | null {
    const isAt = (at: string) => at === pointer || (isList && at.startsWith(`${pointer}/`))
    return this.problem?.errors?.find((error) => isAt(error.pointer))?.detail ?? null
  }
}

export const isAborted = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'AbortError'

export const toApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(String((error as Error)?.message ?? error), -1)
