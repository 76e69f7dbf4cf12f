/* Writes the collections for Postman and Bruno, and public/llms.txt. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { brunoFiles } from './bruno.ts'
import { llmsText } from './llms.ts'
import { postmanCollection } from './postman.ts'
import type { ApiDocument } from './requests.ts'

/** The files by path. */
export const collectionFiles = (document: unknown): Readonly<Record<string, string>> => {
  const plain = JSON.parse(JSON.stringify(document)) as ApiDocument
  const bruno = Object.entries(brunoFiles(plain))
  return {
    'public/llms.txt': llmsText(plain),
    'collections/postman/perigee.json': postmanCollection(plain),
    ...Object.fromEntries(bruno.map(([path, text]) => [`collections/bruno/${path}`, text])),
  }
}

export const writeCollections = (document: unknown): void => {
  // Requests of operations that are gone go too.
  rmSync('collections', { recursive: true, force: true })
  for (const [path, text] of Object.entries(collectionFiles(document))) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}
