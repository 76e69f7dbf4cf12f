// npm run migrate:new -- --name what_changes
// Writes the migration from the last schema to src/db/schema.ts. drizzle-kit supports neither STRICT
// nor WITHOUT ROWID; this adds them to every new table.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const before = new Set(readdirSync('migrations'))
execFileSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })

for (const file of readdirSync('migrations')) {
  if (before.has(file) || !file.endsWith('.sql')) continue
  const sql = readFileSync(`migrations/${file}`, 'utf8')
  const strict = sql.replaceAll(/CREATE TABLE [^;]*\);/g, (table) => {
    const needsRowid = /integer PRIMARY KEY/.test(table)
    return table.replace(/\);$/, needsRowid ? ') STRICT;' : ') STRICT, WITHOUT ROWID;')
  })
  writeFileSync(`migrations/${file}`, `${strict.trimEnd()}\n`)
  if (/__new_|DROP TABLE/.test(strict))
    console.warn(`Check migrations/${file} before you commit it: it rebuilds or drops a table.`)
}
