// Writes the migration that brings the tables in step with src/db/schema.ts: `npm run migrate:new -- --name what_changes`.
// drizzle-kit knows neither STRICT nor WITHOUT ROWID; both are added here to every table that it makes.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const before = new Set(readdirSync('migrations'))
execFileSync('drizzle-kit', ['generate', ...process.argv.slice(2)], { stdio: 'inherit' })

for (const file of readdirSync('migrations')) {
  if (before.has(file) || !file.endsWith('.sql')) continue
  const sql = readFileSync(`migrations/${file}`, 'utf8')
  const strict = sql.replaceAll(/CREATE TABLE [^;]*\);/g, (table) => {
    const keepsRowid = /integer PRIMARY KEY/.test(table)
    return table.replace(/\);$/, keepsRowid ? ') STRICT;' : ') STRICT, WITHOUT ROWID;')
  })
  writeFileSync(`migrations/${file}`, `${strict.trimEnd()}\n`)
  if (/__new_|DROP TABLE/.test(strict))
    console.warn(`Read migrations/${file} before you commit it: it rebuilds or drops a table.`)
}
