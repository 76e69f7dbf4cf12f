import type { Reporter, TestModule, TestSpecification } from 'vitest/node'
import { STALLED } from '../../scripts/steps.mjs'

/** No test takes longer, not even on a slow machine, retries included. */
const LIMIT_MS = 5 * 60_000

/**
 * Ends a run that waits for ever. vitest does so when a Worker's process ends, or does not, at the
 * wrong moment; timeouts of tests do not help, because they run in that Worker.
 */
export class StalledRuns implements Reporter {
  readonly #end: (unfinished: string[]) => void
  readonly #unfinished = new Set<string>()
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(end = exitAsStalled) {
    this.#end = end
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
    this.#timer = setTimeout(() => this.#end([...this.#unfinished].sort()), LIMIT_MS)
  }
}

function exitAsStalled(unfinished: string[]): void {
  const files = unfinished.length > 0 ? unfinished.join('\n  ') : 'none; the end of the run'
  console.error(`\nNothing has happened for five minutes. Unfinished:\n  ${files}`)
  process.exit(STALLED)
}
