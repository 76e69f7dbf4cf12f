import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PYTHON_FOLDER, pythonFiles } from '../../../scripts/build/python/index.ts'

const document = (): unknown => JSON.parse(readFileSync('public/api/openapi.json', 'utf8'))

test('the generated part of the Python client is current', () => {
  for (const [name, text] of Object.entries(pythonFiles(document())))
    expect(readFileSync(join(PYTHON_FOLDER, name), 'utf8') === text, name).toBe(true)
})

test('lists are rows, pages and files, and PUT takes what GET returns', () => {
  const { 'operations.py': sync = '', 'async_operations.py': later = '' } = pythonFiles(document())
  expect(sync).toContain('def list_locations(')
  expect(sync).toContain('def list_locations_page(')
  expect(sync).toContain('def download_locations(')
  expect(sync).toContain('body: t.GroupBody | t.GroupReply,')
  expect(later).toContain('async def list_locations_page(')
  expect(later).toContain(') -> AsyncIterator[t.Location]:')
})

test('a member whose name Python reserves keeps its name', () => {
  expect(pythonFiles(document())['types.py']).toMatch(/ {8}"from": "\w+",/)
})

test('an object without a name of its own is refused', () => {
  const nested = { type: 'object', properties: { a: { type: 'string' } } }
  const schemas = { Outer: { type: 'object', properties: { inner: nested } } }
  expect(() => pythonFiles({ paths: {}, components: { schemas, parameters: {} } })).toThrow(
    'An object needs a name: a',
  )
})
