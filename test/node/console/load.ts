import { vi } from 'vitest'

/**
 * Loads a module of the console anew, with the globals as they are stubbed. Its types are those of a
 * browser, so tests say what they use of it.
 */
export const load = async <Module>(path: string): Promise<Module> => {
  vi.resetModules()
  return (await import(new URL(`../../../console/${path}`, import.meta.url).href)) as Module
}
