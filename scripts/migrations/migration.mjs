// npm run migrate:new -- --name what_changes
// Writes the migration from the last schema to src/db/schema.ts. drizzle-kit supports neither STRICT
// nor WITHOUT ROWID; this adds them to every new table, and the triggers that count what is stored.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { pendingTriggers } from './usageTriggers.ts'

const before = new Set(readdirSync('migrations'))
const isMigration = (file) => file.endsWith('.sql')
const earlier = [...before]
  .filter(isMigration)
  .sort()
  .map((file) => readFileSync(`migrations/${file}`, 'utf8'))
const { first, last } = pendingTriggers(earlier.join(''))
execFileSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })

for (const file of readdirSync('migrations')) {
  if (before.has(file) || !isMigration(file)) continue
  const sql = readFileSync(`migrations/${file}`, 'utf8')
  const strict = sql.replaceAll(/CREATE TABLE [^;]*\);/g, (table) => {
    const needsRowid = /integer PRIMARY KEY/.test(table)
    return table.replace(/\);$/, needsRowid ? ') STRICT;' : ') STRICT, WITHOUT ROWID;')
  })
  const own = strict.replace(/^-- Custom SQL.*/, '').trimEnd()
  const statements = [...first, ...(own ? [own] : []), ...last].join('--> statement-breakpoint\n')
  writeFileSync(`migrations/${file}`, `${statements}\n`)
  if (/__new_|DROP TABLE/.test(strict))
    console.warn(`Check migrations/${file} before you commit it: it rebuilds or drops a table.`)
}
