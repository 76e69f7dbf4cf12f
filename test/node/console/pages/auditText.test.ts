import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { auditText } from '../../../../console/text/audit.ts'

test('actions have readable names', () => {
  const names = ['zone.updated', 'device.created', 'key.usedFromNewNetwork', 'group.someNewThing']
  expect(names.map(auditText.actionName)).toEqual([
    'Zone changed',
    'Device created',
    'Key used from a new network',
    'Group some new thing',
  ])
})

test('members have readable names', () => {
  expect(['name', 'limits/dailyEmailLimit', 'total'].map(auditText.memberName)).toEqual([
    'Name',
    'Limits: daily email limit',
    'Licenses',
  ])
})

test('every kind of action that the service writes for an account can be chosen', () => {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  const source = files
    .filter((name) => name.endsWith('.ts'))
    .map((name) => readFileSync(`src/${name}`, 'utf8'))
    .join('\n')
  const written = [...source.matchAll(/(?:action: |tx\.audit\()'(\w+)\.\w+'/g)].map(
    ([, kind]) => kind,
  )
  expect(written.length).toBeGreaterThan(20)
  // Of the service itself, and of actions that others of their kind stand for.
  const others = ['cell', 'operator', 'pushKey', 'zones']
  const missing = new Set(written.filter((kind) => !others.includes(kind ?? '')))
  for (const kind of Object.keys(auditText.kinds)) missing.delete(kind)
  expect([...missing]).toEqual([])
})
