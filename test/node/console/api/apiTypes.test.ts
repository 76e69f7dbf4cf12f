import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { EVENT_TYPES } from '../../../../console/api/types.ts'
import { apiTypes } from '../../../../console/build/apiTypes.ts'
import { eventName, kindOf } from '../../../../console/pages/webhooks/eventTypes.ts'

test('the types of the console are those of the OpenAPI document', () => {
  const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8'))
  const formatted = execFileSync(
    'node_modules/.bin/biome',
    ['format', '--stdin-file-path=console/api/types.ts'],
    { input: apiTypes(document), encoding: 'utf8' },
  )
  const published = readFileSync('console/api/types.ts', 'utf8')
  expect(published, 'console/api/types.ts is out of date: run npm run openapi').toBe(formatted)
})

test('every type and kind of event has a name in the catalogue', () => {
  const unnamed = EVENT_TYPES.flatMap((type) => [type, `${kindOf(type)}.*`]).filter(
    (pattern) => eventName(pattern) === pattern,
  )
  expect(EVENT_TYPES.length).toBeGreaterThan(15)
  expect(unnamed).toEqual([])
})

test('the console imports nothing of the server', () => {
  const files = readdirSync('console', { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.tsx?$/.test(file),
  )
  expect(files.length).toBeGreaterThan(50)
  const importing = files.filter((file) =>
    /from '(\.\.\/)+src\//.test(readFileSync(`console/${file}`, 'utf8')),
  )
  expect(importing).toEqual([])
})
