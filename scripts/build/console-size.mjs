import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'

const folder = 'public'
/** The page that a sign-in leads to. Its map is loaded by a later `import()`. */
const FIRST_PAGE = /^MapPage-.*\.(js|css)$/

/** The KB, compressed, of the page, its scripts and styles, and all that they import at once. */
export function measureFirstLoad() {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const named = [...page.matchAll(/(?:src|href)="\/(console\/[^"]+)"/g)].map(([, file]) => file)
  const first = readdirSync(join(folder, 'console'))
    .filter((file) => FIRST_PAGE.test(file))
    .map((file) => `console/${file}`)
  const files = new Set(['index.html'])
  const add = (file) => {
    if (files.has(file)) return
    files.add(file)
    if (!file.endsWith('.js')) return
    const script = readFileSync(join(folder, file), 'utf8')
    for (const [, imported] of script.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g))
      add(`console/${imported}`)
  }
  for (const file of [...named, ...first]) add(file)
  const bytes = [...files].map((file) => gzipSync(readFileSync(join(folder, file))).length)
  return bytes.reduce((sum, one) => sum + one, 0) / 1024
}
