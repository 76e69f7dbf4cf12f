import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const FILES = [
  'package/LICENSE',
  'package/README.md',
  'package/dist/src/index.d.ts',
  'package/dist/cli/main.js',
]

let packed

/** Builds and packs the client once for all parts, and returns the path of the tarball. */
export function packClient(root, folder) {
  packed ??= pack(root, folder)
  return packed
}

function pack(root, folder) {
  const args = ['pack', '--silent', '--pack-destination', folder, '-w', '@perigee/client']
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  const file = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  const names = execFileSync('tar', ['tzf', join(folder, file)], { encoding: 'utf8' })
  for (const name of FILES)
    if (!names.includes(name)) throw new Error(`The package has no ${name}.`)
  return join(folder, file)
}
