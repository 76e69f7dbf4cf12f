import { vi } from 'vitest'

/**
 * Waits until something holds. The time it may take is there for what is broken, not for what is slow: a starved machine is given
 * as long as it needs, and a test that passes waits no longer than it must.
 */
export const eventually = <T>(look: () => T | Promise<T>, interval = 50): Promise<T> =>
  vi.waitFor(look, { timeout: 40_000, interval })
