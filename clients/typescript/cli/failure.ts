/* Why a command ends, and the exit code that scripts can rely on. */

export const EXIT = {
  ok: 0,
  /** The service refused something, or not everything was done. */
  failed: 1,
  usage: 2,
  /** No credentials, wrong ones, or not allowed. */
  credentials: 3,
  /** The service cannot be reached, or cannot answer now. */
  unavailable: 4,
  interrupted: 130,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** Ends the command with a sentence for the person who ran it. */
export class Failure extends Error {
  readonly exitCode: ExitCode
  /** Further lines. */
  readonly details: string[]
  constructor(message: string, exitCode: ExitCode = EXIT.failed, details: string[] = []) {
    super(message)
    this.exitCode = exitCode
    this.details = details
  }
}

export const usageFailure = (message: string): Failure => new Failure(message, EXIT.usage)
