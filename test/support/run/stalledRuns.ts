import type { Reporter, TestModule, TestSpecification, Vitest } from 'vitest/node'
import { STALLED } from '../../../scripts/steps.mjs'

/** No test takes longer, not even on a slow machine, retries included. */
const LIMIT_MS = 5 * 60_000
/** How long the end of a run may take after its last file. */
const END_LIMIT_MS = 60_000

/** What a run that stalls is ended by. */
interface Endings {
  /** Files have not ended: nothing is known of the code. */
  stop: (unfinished: string[]) => void
  /** All files have ended, and so their results are known. */
  finish: () => Promise<void>
}

/**
 * Ends a run that waits for ever, as vitest sometimes does for the message that a Worker has
 * finished its file. Timeouts of tests do not help, because they run in that Worker.
 */
export class StalledRuns implements Reporter {
  readonly #endings: Endings
  readonly #unfinished = new Set<string>()
  #vitest: Vitest | undefined
  #timer: ReturnType<typeof setTimeout> | undefined

  /** `summary` is the reporter that prints the summary. */
  constructor(summary: Reporter, endings?: Endings) {
    this.#endings = endings ?? {
      stop: exitAsStalled,
      finish: () => finishRun(this.#vitest, summary),
    }
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest
  }

  onTestRunStart(specifications: readonly Pick<TestSpecification, 'moduleId'>[]): void {
    for (const { moduleId } of specifications) this.#unfinished.add(moduleId)
    this.#startTimer()
  }

  onTestCaseResult(): void {
    this.#startTimer()
  }

  onTestModuleEnd({ moduleId }: Pick<TestModule, 'moduleId'>): void {
    this.#unfinished.delete(moduleId)
    this.#startTimer()
  }

  onTestRunEnd(): void {
    clearTimeout(this.#timer)
  }

  #startTimer(): void {
    clearTimeout(this.#timer)
    const { stop, finish } = this.#endings
    this.#timer =
      this.#unfinished.size > 0
        ? setTimeout(() => stop([...this.#unfinished].sort()), LIMIT_MS)
        : setTimeout(() => void finish(), END_LIMIT_MS)
  }
}

function exitAsStalled(unfinished: string[]): void {
  console.error(
    `\nNothing has happened for five minutes. Unfinished:\n  ${unfinished.join('\n  ')}`,
  )
  process.exit(STALLED)
}

/** Prints the summary of a run whose files have all ended, and exits with its result. */
async function finishRun(vitest: Vitest | undefined, summary: Reporter): Promise<void> {
  if (!vitest) throw new Error('The run has not begun.')
  console.error('\nAll files have ended, but not the run; it is ended here.')
  const modules = vitest.state.getTestModules()
  const errors = vitest.state.getUnhandledErrors()
  const isPassed = errors.length === 0 && modules.every((module) => module.ok())
  await summary.onTestRunEnd?.(modules, errors as never, isPassed ? 'passed' : 'failed')
  process.exit(isPassed ? 0 : 1)
}
