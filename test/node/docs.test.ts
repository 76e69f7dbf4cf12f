import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getTableName, is, Table } from 'drizzle-orm'
import { describe, expect, test } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import * as schema from '../../src/db/schema.ts'

const MAX_README_BYTES = 8192

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
]
const textOf = (file: string): string => readFileSync(file, 'utf8')
const allMatches = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, found = '']) => found)),
]

const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => `src/${file}`)

/** The names in the first column of the tables of a text. */
const rowsOf = (text: string): string[] => allMatches(text, /^\| `([\w-]+)` +\|/gm)

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
const anchorsOf = (file: string): string[] =>
  allMatches(textOf(file), /^#{1,6} (.+)$/gm).map(anchorOf)

describe.each(pages)('%s', (page) => {
  const text = textOf(page)

  test('names only files and folders that exist', () => {
    const paths = allMatches(text, /(?<![\w./-])((?:src|test|lab|scripts|docs)\/[\w./-]*\w)/g)
    expect(paths.filter((path) => !existsSync(path))).toEqual([])
  })

  test('names only symbols that are in the file named with them', () => {
    const named = text.matchAll(/`(\w+)`\s+(?:in\s+|\()`((?:src|test|lab|scripts)\/[\w./-]+)`/g)
    const missing = [...named].filter(
      ([, symbol = '', file = '']) => !existsSync(file) || !textOf(file).includes(symbol),
    )
    expect(missing.map(([found]) => found)).toEqual([])
  })

  test('links only to files and headings that exist', () => {
    const links = allMatches(text, /\]\(([^)\s]+)\)/g).filter((link) => !/^[a-z]+:/.test(link))
    const broken = links.filter((link) => {
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      return !existsSync(file) || (anchor !== undefined && !anchorsOf(file).includes(anchor))
    })
    expect(broken).toEqual([])
  })

  test('names only npm scripts that exist', () => {
    const scripts = [
      ...allMatches(text, /npm run ([a-z][\w:]*)/g),
      ...allMatches(text, /npm (start|test)\b/g),
    ]
    expect(scripts.filter((script) => !(script in manifest.scripts))).toEqual([])
  })
})

test('the README has at most 8 KB and begins with the two commands', () => {
  expect(statSync('README.md').size).toBeLessThanOrEqual(MAX_README_BYTES)
  expect(textOf('README.md')).toMatch(/^# Perigee\n\n```sh\nnpm start .*\nnpm test .*\n```\n/)
})

test('console/README.md names only files of the console, and symbols in them', () => {
  const text = textOf('console/README.md')
  const paths = allMatches(text, /`((?:api|app|live|pages|styles|text|ui)\/[\w./]*\w)`/g)
  expect(paths.filter((path) => !existsSync(`console/${path}`))).toEqual([])
  const named = [...text.matchAll(/`(\w+)`\s+\(`([\w/]+\.tsx?)`/g)]
  const missing = named.filter(
    ([, symbol = '', path = '']) =>
      existsSync(`console/${path}`) && !textOf(`console/${path}`).includes(symbol),
  )
  expect(missing.map(([found]) => found)).toEqual([])
})

describe('docs/storage.md', () => {
  const [cell = '', ledger = '', feed = ''] = textOf('docs/storage.md').split(/^## /m).slice(1)
  const tablesOf = (file: string) => {
    const created = allMatches(textOf(file), /CREATE TABLE (\w+)/g)
    const dropped = allMatches(textOf(file), /DROP TABLE (\w+)/g)
    const renamed = new Map(
      [...textOf(file).matchAll(/ALTER TABLE (\w+) RENAME TO (\w+)/g)].map(([, from, to]) => [
        from,
        to,
      ]),
    )
    return created
      .filter((table) => !dropped.includes(table))
      .map((table) => renamed.get(table) ?? table)
  }

  test('has every table of D1', () => {
    const tables = Object.values(schema).flatMap((value) =>
      is(value, Table) ? [getTableName(value)] : [],
    )
    expect(rowsOf(cell).sort()).toEqual(tables.sort())
  })

  test('names every file that inserts rows of a table, or its folder', () => {
    const missing = Object.entries(schema).flatMap(([symbol, value]) => {
      if (!is(value, Table)) return []
      const table = getTableName(value)
      const row = cell.split('\n').find((line) => line.startsWith(`| \`${table}\` `)) ?? ''
      const named = allMatches(row, /`(src\/[\w./-]+)`/g)
      if (row.includes('outbox')) named.push('src/ledger/outbox/')
      const insert = new RegExp(
        `INTO \\$\\{${symbol}\\}|(insert|insertSelect)\\(\\s*${symbol}\\b|Upsert\\(\\{\\s*table: ${symbol}\\b`,
      )
      return sources
        .filter((file) => insert.test(textOf(file)))
        .filter((file) => !named.some((path) => file.startsWith(path)))
        .map((file) => `${table}: ${file}`)
    })
    expect(missing).toEqual([])
  })

  test('has every table of the two Durable Objects', () => {
    expect(rowsOf(ledger).sort()).toEqual(tablesOf('src/ledger/migrations.ts').sort())
    expect(rowsOf(feed).sort()).toEqual(tablesOf('src/feed/tables.ts').sort())
  })
})

test('docs/configuration.md has every variable, secret and binding', () => {
  const read = ['src/env.ts', 'src/notify/provider.ts'].flatMap((file) =>
    allMatches(textOf(file), /^ {2}([A-Z][A-Z0-9_]+)\??:/gm),
  )
  expect(read).toContain('TOKEN_SECRET')
  const documented = allMatches(textOf('docs/configuration.md'), /`([A-Z][A-Z0-9_]+)`/g)
  expect(read.filter((name) => !documented.includes(name))).toEqual([])
})

test('docs/operations.md has every event that the service logs', () => {
  const logged = sources.flatMap((file) => [
    ...allMatches(textOf(file), /ogFailure\('([\w-]+)'/g),
    ...allMatches(textOf(file), /event: '([a-z]+-[\w-]+)'/g),
  ])
  expect(logged).toContain('sweep-failed')
  const documented = rowsOf(textOf('docs/operations.md'))
  expect(logged.filter((event) => !documented.includes(event))).toEqual([])
})
