/* Writes the generated part of clients/python. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ApiDocument } from './document.ts'
import { pythonOperations } from './operations.ts'
import { pythonTypes } from './types.ts'

const HEADER = '# Written by `npm run openapi` from public/api/openapi.json. Do not edit.'

export const PYTHON_FOLDER = 'clients/python/src/perigee/generated'

/** The files of the folder by name. */
export const pythonFiles = (document: unknown): Readonly<Record<string, string>> => {
  const plain = JSON.parse(JSON.stringify(document)) as ApiDocument
  return {
    '__init__.py': `${HEADER}\n`,
    'types.py': pythonTypes(plain, HEADER),
    'operations.py': pythonOperations(plain, 'sync', HEADER),
    'async_operations.py': pythonOperations(plain, 'async', HEADER),
  }
}

export const writePython = (document: unknown): void => {
  mkdirSync(PYTHON_FOLDER, { recursive: true })
  for (const [name, text] of Object.entries(pythonFiles(document)))
    writeFileSync(join(PYTHON_FOLDER, name), text)
}
