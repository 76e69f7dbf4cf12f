import { en } from './en.ts'

/** A translation is a file with the same members as `en.ts`. */
export type Catalogue = typeof en

export const text: Catalogue = en
