import { readdirSync, readFileSync } from 'node:fs'
import { dirname, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'

/* Holds the table in docs/architecture.md against the imports. If it stands in your way, it or the code is wrong: change one. */

const TABLE = readFileSync('docs/architecture.md', 'utf8').split('## Who may import whom')[1] ?? ''
const MAY_IMPORT = Object.fromEntries(
  [...TABLE.matchAll(/^\| ([a-z]+) +\|([^|]*)\|$/gm)].map(([, role = '', list = '']) => [
    role,
    list.split(',').flatMap((name) => name.trim() || []),
  ]),
)

/** Folders whose files all have the folder's role; every other folder is a feature. */
const FOLDERS = ['domain', 'db', 'notify', 'auth', 'http', 'openapi', 'ledger', 'feed', 'sweep']
const FEATURE_ROLES: Record<string, string> = {
  routes: 'routes',
  contract: 'contract',
  store: 'store',
  present: 'present',
  forms: 'present',
  catalogue: 'present',
}
/** What a file of a feature may not import even at home. */
const NOT_FOR: Record<string, string[]> = {
  store: ['routes', 'contract', 'http'],
  contract: ['routes', 'store'],
  present: ['routes'],
  part: ['routes'],
}

interface Import {
  from: string
  to: string
  typesOnly: boolean
}

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
  /\.tsx?$/.test(file),
)
const textOf = (file: string) => readFileSync(`src/${file}`, 'utf8')

const IMPORT =
  /^(?:import|export)\s+(type\s)?([^'"]*?)\s*from\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]\s*\)/gm

const importsOf = (file: string): Import[] =>
  [...textOf(file).matchAll(IMPORT)].map(([, type, names = '', from, bare, dynamic]) => ({
    from: file,
    to: from ?? bare ?? dynamic ?? '',
    typesOnly: !!type || /^\{(\s*type\s+\w+(\s+as\s+\w+)?\s*,?)+\s*\}$/.test(names),
  }))

const imports = files.flatMap(importsOf)
const folderOf = (file: string) => (file.includes('/') ? (file.split('/')[0] ?? '') : '')

const roleOf = (file: string): string => {
  const folder = folderOf(file)
  if (folder === '') return file.replace('.ts', '')
  const name = file.slice(folder.length + 1).replace(/\.tsx?$/, '')
  if ((folder === 'ledger' || folder === 'feed') && name === 'stub') return 'stub'
  if (FOLDERS.includes(folder)) return folder
  return FEATURE_ROLES[name] ?? 'part'
}

const isAllowed = ({ from, to, typesOnly }: Import): boolean => {
  const [here, there] = [roleOf(from), roleOf(to)]
  const atHome = folderOf(from) === folderOf(to)
  if (atHome && NOT_FOR[here]?.includes(there) && !(typesOnly && there !== 'routes')) return false
  const rules = MAY_IMPORT[here] ?? []
  return rules.some((rule) => {
    const room = rule.replace('!', '')
    if (rule.endsWith('!') && !typesOnly) return false
    return room === 'own' ? atHome : room === there
  })
}

const within = imports
  .filter(({ to }) => to.startsWith('.'))
  .map((entry) => ({ ...entry, to: normalize(`${dirname(entry.from)}/${entry.to}`) }))

describe('the imports of src', () => {
  test('are found: the test sees what it is to judge', () => {
    const seen = within.map(({ from, to }) => `${from} → ${to}`)
    expect(seen).toContain('worker.ts → app.ts')
    expect(seen).toContain('app.ts → devices/routes.ts')
    expect(seen).toContain('db/open.ts → env.ts')
    expect(
      within.find(({ from, to }) => from === 'env.ts' && to === 'notify/provider.ts')?.typesOnly,
    ).toBe(true)
    expect(MAY_IMPORT.domain).toEqual(['own'])
    expect(
      within.find(({ from, to }) => from === 'worker.ts' && to === 'ledger/ledger.ts')?.typesOnly,
    ).toBe(false)
    expect(isAllowed({ from: 'domain/day.ts', to: 'http/wire.ts', typesOnly: true })).toBe(false)
    expect(isAllowed({ from: 'groups/routes.ts', to: 'users/routes.ts', typesOnly: false })).toBe(
      false,
    )
    expect(isAllowed({ from: 'ledger/ledger.ts', to: 'http/problem.ts', typesOnly: true })).toBe(
      false,
    )
    expect(isAllowed({ from: 'devices/routes.ts', to: 'ledger/books.ts', typesOnly: false })).toBe(
      false,
    )
  })

  test('follow the table', () => {
    const astray = within
      .filter((entry) => !isAllowed(entry))
      .map(({ from, to }) => `${from} (${roleOf(from)}) → ${to} (${roleOf(to)})`)
    expect(astray).toEqual([])
  })

  test('lead to files of src, named with their ending', () => {
    expect(
      within.filter(({ to }) => !files.includes(to)).map(({ from, to }) => `${from} → ${to}`),
    ).toEqual([])
  })

  test('name no package in the domain, and nothing of Node anywhere', () => {
    const outside = imports.filter(({ to }) => !to.startsWith('.'))
    expect(outside.filter(({ from }) => folderOf(from) === 'domain')).toEqual([])
    expect(outside.filter(({ to }) => to.startsWith('node:'))).toEqual([])
  })

  test('take zod as a namespace, which is what keeps the bundle small', () => {
    const zod = imports
      .filter(({ to }) => to === 'zod' || to.startsWith('zod/'))
      .map(({ from }) => from)
    expect(zod.length).toBeGreaterThan(5)
    expect(
      zod.filter((file) => !/^import (type )?\* as z from 'zod'$/m.test(textOf(file))),
    ).toEqual([])
  })

  test('do not lead the Worker to the maker of the OpenAPI document, which is a script’s', () => {
    const reached = new Set(['worker.ts'])
    for (const file of reached)
      for (const { from, to, typesOnly } of within) if (from === file && !typesOnly) reached.add(to)
    expect(reached.size).toBeGreaterThan(50)
    expect([...reached].filter((file) => file.startsWith('openapi/'))).toEqual([])
  })
})

test('no file passes on what another exports', () => {
  expect(
    files.filter((file) =>
      /^export\s+(type\s+)?(\*|\{[^}]*\})\s*(as\s+\w+\s*)?from\s/m.test(textOf(file)),
    ),
  ).toEqual([])
  expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([])
})

test('no folder and no file is named after nothing', () => {
  expect(
    files.filter((file) =>
      /(^|\/)(utils?|helpers?|common|misc|shared|manager|lib)(\/|\.|$)/i.test(file),
    ),
  ).toEqual([])
})

test('a folder has a row in the table or is a feature with routes of its own', () => {
  const features = new Set(
    files.map(folderOf).filter((folder) => folder !== '' && !FOLDERS.includes(folder)),
  )
  for (const feature of features) expect(files, feature).toContain(`${feature}/routes.ts`)
})
