import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  calledMethod,
  findNodes,
  isInMember,
  parseSource,
  type SyntaxNode,
  type Visited,
} from './syntax.ts'

/* Checks the imports against the table in docs/architecture.md, and the code against our rules. */

const TABLE = readFileSync('docs/architecture.md', 'utf8').split('## Who may import whom')[1] ?? ''
const MAY_IMPORT = Object.fromEntries(
  [...TABLE.matchAll(/^\| ([a-zA-Z]+) +\|([^|]*)\|$/gm)].map(([, role = '', list = '']) => [
    role,
    list.split(',').flatMap((name) => name.trim() || []),
  ]),
)

/** Folders whose files all have the folder's role. Every other folder is a feature. */
const FOLDERS = [
  'domain',
  'db',
  'notify',
  'auth',
  'http',
  'openapi',
  'ledger',
  'feed',
  'ingest',
  'sweep',
]
const FEATURE_ROLES: Record<string, string> = {
  routes: 'routes',
  contract: 'contract',
  store: 'store',
  present: 'present',
  forms: 'present',
  catalogue: 'present',
}
/** Imports that are not allowed even inside the feature. */
const NOT_WITHIN: Record<string, string[]> = {
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
  return name.endsWith('Routes') ? 'routes' : (FEATURE_ROLES[name] ?? 'part')
}

const isAllowed = ({ from, to, typesOnly }: Import): boolean => {
  const [here, there] = [roleOf(from), roleOf(to)]
  const isSameFolder = folderOf(from) === folderOf(to)
  if (isSameFolder && NOT_WITHIN[here]?.includes(there) && !(typesOnly && there !== 'routes'))
    return false
  const rules = MAY_IMPORT[here] ?? []
  return rules.some((rule) => {
    const role = rule.replace('!', '')
    if (rule.endsWith('!') && !typesOnly) return false
    return role === 'own' ? isSameFolder : role === there
  })
}

const within = imports
  .filter(({ to }) => to.startsWith('.'))
  .map((entry) => ({ ...entry, to: normalize(`${dirname(entry.from)}/${entry.to}`) }))

describe('the imports of src', () => {
  test('are found and checked against the table', () => {
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
    expect(
      isAllowed({ from: 'domain/time/day.ts', to: 'http/contract/wire.ts', typesOnly: true }),
    ).toBe(false)
    expect(isAllowed({ from: 'groups/routes.ts', to: 'users/routes.ts', typesOnly: false })).toBe(
      false,
    )
    expect(
      isAllowed({ from: 'ledger/ledger.ts', to: 'http/contract/problem.ts', typesOnly: true }),
    ).toBe(false)
    expect(isAllowed({ from: 'devices/routes.ts', to: 'ledger/books.ts', typesOnly: false })).toBe(
      false,
    )
  })

  test('follow the table', () => {
    const forbidden = within
      .filter((entry) => !isAllowed(entry))
      .map(({ from, to }) => `${from} (${roleOf(from)}) → ${to} (${roleOf(to)})`)
    expect(forbidden).toEqual([])
  })

  test('name existing files with their extension', () => {
    expect(
      within
        .filter(
          ({ to }) => !files.includes(to) && !(to.endsWith('.json') && existsSync(`src/${to}`)),
        )
        .map(({ from, to }) => `${from} → ${to}`),
    ).toEqual([])
  })

  test('name no package in domain/ and no module of Node anywhere', () => {
    const outside = imports.filter(({ to }) => !to.startsWith('.'))
    expect(outside.filter(({ from }) => folderOf(from) === 'domain')).toEqual([])
    expect(outside.filter(({ to }) => to.startsWith('node:'))).toEqual([])
  })

  test('import zod as a namespace, which keeps the bundle small', () => {
    const zod = imports
      .filter(({ to }) => to === 'zod' || to.startsWith('zod/'))
      .map(({ from }) => from)
    expect(zod.length).toBeGreaterThan(5)
    expect(
      zod.filter((file) => !/^import (type )?\* as z from 'zod'$/m.test(textOf(file))),
    ).toEqual([])
  })

  test('do not bring openapi/ into the Worker', () => {
    const reached = new Set(['worker.ts'])
    for (const file of reached)
      for (const { from, to, typesOnly } of within) if (from === file && !typesOnly) reached.add(to)
    expect(reached.size).toBeGreaterThan(50)
    expect([...reached].filter((file) => file.startsWith('openapi/'))).toEqual([])
  })
})

describe('the code of src', () => {
  const sources = files.map(parseSource)
  const find = (matches: (visited: Visited) => boolean) =>
    sources.flatMap((file) => findNodes(file, matches))
  const calls = ({ node }: Visited, ...methods: string[]) =>
    methods.includes(calledMethod(node) ?? '')

  test('has at most 250 lines in a file, except the schemas and the problem registry', () => {
    const exceptions = ['db/schema.ts', 'ledger/tables.ts', 'http/contract/problem.ts']
    const tooLong = sources
      .map(({ path, text }) => ({ path, lines: text.trimEnd().split('\n').length }))
      .filter(({ path, lines }) => lines > 250 && !exceptions.includes(path))
    expect(tooLong).toEqual([])
  })

  test('has at most four positional parameters in a function', () => {
    const paramsOf = ({ type, params }: SyntaxNode) =>
      /Function|TSMethodSignature/.test(type) && Array.isArray(params) ? params.length : 0
    expect(find(({ node }) => paramsOf(node) > 0)).not.toEqual([])
    expect(find(({ node }) => paramsOf(node) > 4)).toEqual([])
  })

  test('prepares D1 statements in db/statement.ts only, and to retry or join them', () => {
    const found = find(({ node }) => !!calledMethod(node)?.endsWith('.prepare'))
    expect(found.filter((at) => !/^db\/(join|statement|transient)\.ts:/.test(at))).toEqual([])
    expect(found).not.toEqual([])
  })

  test('writes to the console in log.ts only', () => {
    const found = find(({ node }) => node.type === 'Identifier' && node.name === 'console')
    expect(found.filter((at) => !at.startsWith('log.ts:'))).toEqual([])
    expect(found).not.toEqual([])
  })

  test('replies with JSON through http/reply/reply.ts, which checks the body by its contract', () => {
    expect(find((visited) => calls(visited, 'c.json', 'Response.json'))).toEqual([])
    const written = find(
      (visited) => calls(visited, 'JSON.stringify') && !isInMember(visited, 'headers'),
    )
    expect(written.filter((at) => /\/routes\.ts:/.test(at))).toEqual([])
    expect(written.filter((at) => at.startsWith('http/reply/reply.ts:'))).not.toEqual([])
  })
})

test('no file re-exports from another', () => {
  expect(
    files.filter((file) =>
      /^export\s+(type\s+)?(\*|\{[^}]*\})\s*(as\s+\w+\s*)?from\s/m.test(textOf(file)),
    ),
  ).toEqual([])
  expect(files.filter((file) => /(^|\/)index\.tsx?$/.test(file))).toEqual([])
})

test('no file or folder has a name without a meaning, such as utils', () => {
  expect(
    files.filter((file) =>
      /(^|\/)(utils?|helpers?|common|misc|shared|manager|lib)(\/|\.|$)/i.test(file),
    ),
  ).toEqual([])
})

test('no folder has more than sixteen files', () => {
  const all = ['src', 'console', 'lab', 'scripts', 'test'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(ts|tsx|mjs)$/.test(file) && !file.includes('node_modules'))
      .map((file) => join(root, file)),
  )
  const sizes = Map.groupBy(all, dirname)
  const wide = [...sizes].filter(([, inside]) => inside.length > 16)
  expect(wide.map(([folder, inside]) => `${folder}: ${inside.length}`)).toEqual([])
})

test('every feature folder has routes', () => {
  const features = new Set(
    files.map(folderOf).filter((folder) => folder !== '' && !FOLDERS.includes(folder)),
  )
  for (const feature of features) expect(files, feature).toContain(`${feature}/routes.ts`)
})
