import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { collectionFiles } from '../../../scripts/build/collections/index.ts'

const read = (path: string): string => readFileSync(path, 'utf8')
const document = JSON.parse(read('public/api/openapi.json'))
const files = collectionFiles(document)
const MAX_BYTES = 400_000

test('the collections and llms.txt are those of the document; `npm run openapi` writes them', () => {
  const written = readdirSync('collections', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  expect(['public/llms.txt', ...written].sort()).toEqual(Object.keys(files).sort())
  const stale = Object.entries(files).flatMap(([path, text]) => (read(path) === text ? [] : path))
  expect(stale).toEqual([])
  expect(Object.values(files).join('').length).toBeLessThan(MAX_BYTES)
})

test('both collections have every operation but the WebSocket and the import of a file', () => {
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path as object))
  const { item } = JSON.parse(files['collections/postman/perigee.json'] ?? '')
  const requests = item.flatMap((folder: { item: unknown[] }) => folder.item)
  expect(requests).toHaveLength(operations.length - 2)
  const bruno = Object.keys(files).filter((path) =>
    /^collections\/bruno\/(?!environments)[^/]+\/(?!folder\.bru$)/.test(path),
  )
  expect(bruno).toHaveLength(requests.length)
  expect(requests[0].name).toBe('Get a token')
})

test('requests have no id of an example and no fixed time', () => {
  const fixed = Object.entries(files).flatMap(([path, text]) =>
    path.startsWith('collections/') && /_1jn7|\d{4}-\d\d-\d\dT/.test(text) ? path : [],
  )
  expect(fixed).toEqual([])
})

test('every variable of a path is kept from a reply', () => {
  const text = files['collections/postman/perigee.json'] ?? ''
  const used = new Set([...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name))
  const kept = [...text.matchAll(/Variables\.set\('(\w+)'/g)].map(([, name]) => name)
  const settings = JSON.parse(text).variable.map(({ key }: { key: string }) => key)
  for (const name of [...kept, ...settings]) used.delete(name)
  expect([...used]).toEqual([])
})

test('llms.txt has the form of llmstxt.org and names every operation', () => {
  const text = files['public/llms.txt'] ?? ''
  expect(text).toMatch(/^# Perigee\n\n> .+\n\n/)
  expect(text.match(/^# /gm)).toHaveLength(1)
  for (const path of Object.keys(document.paths)) expect(text).toContain(` ${path}](/api/openapi`)
  expect(text).toContain('POST /api/Auth/Token')
  expect(text).toContain('(/mcp)')
})
