const BAR_WIDTH = 24
const MIN_INTERVAL_MS = 80

/** A stream that may be a terminal. */
export interface Screen {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

/** `[████████░░░░] 40 %` */
export const barOf = (part: number): string => {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
}

/**
 * One line that is written over, on a terminal only: a log gets nothing. `total` is null where
 * nobody knows it.
 */
export class Progress {
  readonly #screen: Screen
  readonly #label: string
  #drawnAt = 0
  #isDrawn = false

  constructor(screen: Screen, label: string) {
    this.#screen = screen
    this.#label = label
  }

  update(text: string, part: number | null): void {
    const now = Date.now()
    if (!this.#screen.isTTY || (now - this.#drawnAt < MIN_INTERVAL_MS && part !== 1)) return
    this.#drawnAt = now
    this.#isDrawn = true
    const bar =
      part === null ? '' : `${barOf(part)} ${String(Math.floor(part * 100)).padStart(3)} %  `
    const line = `${this.#label}  ${bar}${text}`
    this.#screen.write(`\r\x1b[K${line.slice(0, (this.#screen.columns ?? 80) - 1)}`)
  }

  /** Removes the line. */
  end(): void {
    if (this.#isDrawn) this.#screen.write('\r\x1b[K')
    this.#isDrawn = false
  }
}
