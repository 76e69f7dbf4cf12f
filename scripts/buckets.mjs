import { readFileSync } from 'node:fs'
import { fail } from './toolchain.mjs'
import { wrangler } from './wrangler.mjs'

/** The R2 buckets of wrangler.toml. */
export function listBuckets(config = readFileSync('wrangler.toml', 'utf8')) {
  const blocks = config.match(/^\[\[r2_buckets\]\]\n(?:(?!\[).*\n?)*/gm) ?? []
  return blocks.map((block) => {
    const read = (key) => block.match(new RegExp(`^${key}\\s*=\\s*"(.*)"`, 'm'))?.[1]
    return { name: read('bucket_name'), jurisdiction: read('jurisdiction') }
  })
}

/** Creates the buckets that do not exist yet. */
export function ensureBuckets(config) {
  for (const { name, jurisdiction } of listBuckets(config)) {
    const where = jurisdiction ? ['--jurisdiction', jurisdiction] : []
    if (wrangler('r2', 'bucket', 'info', name, ...where).ok) continue
    const { ok, output } = wrangler('r2', 'bucket', 'create', name, ...where)
    if (!ok)
      fail(
        `${output}\nCould not create the bucket ${name}. Turn on R2 in the Cloudflare dashboard, or delete [[r2_buckets]] from wrangler.toml if no months have moved yet: then they stay in the databases.`,
      )
    console.log(`The bucket ${name} was created.`)
  }
}
