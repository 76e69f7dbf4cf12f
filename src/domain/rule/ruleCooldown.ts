const MINUTE_MS = 60_000

/** Whether an alert at `time` is too near to one that was raised, whichever came first. */
export const isInCooldown = (
  time: number,
  otherTime: number | null,
  cooldownMinutes: number,
): boolean => otherTime !== null && Math.abs(time - otherTime) < cooldownMinutes * MINUTE_MS

/** Applies the cooldown of one rule and device to alerts in order, for each zone by itself. */
export class CooldownFilter {
  readonly #last = new Map<string | null, number>()
  readonly #minutes: number

  constructor(cooldownMinutes: number) {
    this.#minutes = cooldownMinutes
  }

  admit(zoneId: string | null, time: number): boolean {
    if (isInCooldown(time, this.#last.get(zoneId) ?? null, this.#minutes)) return false
    this.#last.set(zoneId, time)
    return true
  }
}
