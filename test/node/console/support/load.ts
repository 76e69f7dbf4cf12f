import { vi } from 'vitest'

const urlOf = (path: string): URL => new URL(`../../../../console/${path}`, import.meta.url)

/** Replaces a module of the console for the modules that are loaded afterwards. */
export const replaceModule = (path: string, members: object): void => {
  vi.doMock(urlOf(path).pathname, () => members)
}

export const restoreModules = (...paths: string[]): void => {
  for (const path of paths) vi.doUnmock(urlOf(path).pathname)
  vi.resetModules()
}

/**
 * Loads a module of the console anew, with the globals as they are stubbed. Its types are those of a
 * browser, so tests say what they use of it.
 */
export const load = async <Module>(path: string): Promise<Module> => {
  vi.resetModules()
  return (await import(urlOf(path).href)) as Module
}
