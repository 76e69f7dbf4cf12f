import { en } from './en.ts'

/** A translation is a file with the same members as `en.ts`. */
export type Catalogue = typeof en

export const text: Catalogue = en

/** Alerts that the service knows have names in words; an account's own stand as they are. */
export const alertLabel = (name: string): string =>
  (text.alertNames as Record<string, string>)[name] ?? name
