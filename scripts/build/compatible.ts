// npm run compatible
// Fails if public/api/openapi.json would break clients of the last release, unless the API has a new
// version. `npm run compatible -- --release <commit>` stores the API of a release to compare with.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { gunzipSync, gzipSync } from 'node:zlib'
import { FIRST_VERSION, NEWEST_VERSION } from '../../src/http/version/versions.ts'
import { findIncompatibilities } from './compatible/compare.ts'
import { type ApiDocument, type Release, surfaceOf } from './compatible/document.ts'

const DOCUMENT = 'public/api/openapi.json'
/** Stored, because a clone without history has no other release. */
const RELEASED = 'scripts/build/compatible/released.json.gz'

const versionOf = ({ components }: ApiDocument): string => {
  const versions = components.parameters['Perigee-Version']?.schema?.enum ?? []
  return String(versions.at(-1) ?? FIRST_VERSION)
}

function storeRelease(ref: string) {
  const git = (...args: string[]) =>
    execFileSync('git', args, { encoding: 'utf8', maxBuffer: 2 ** 28 })
  const commit = git('rev-parse', '--verify', `${ref}^{commit}`).trim()
  const document = JSON.parse(git('show', `${commit}:${DOCUMENT}`)) as ApiDocument
  const release: Release = { commit, version: versionOf(document), document: surfaceOf(document) }
  writeFileSync(RELEASED, gzipSync(JSON.stringify(release), { level: 9 }))
  console.log(`${RELEASED}: the API of ${commit}, version ${release.version}`)
}

function check(): number {
  const stored = gunzipSync(readFileSync(RELEASED)).toString()
  const { commit, version, document } = JSON.parse(stored) as Release
  const current = JSON.parse(readFileSync(DOCUMENT, 'utf8')) as ApiDocument
  const found = [...new Set(findIncompatibilities(document, surfaceOf(current)))]
  for (const finding of found) console.log(`  ${finding}`)
  const release = `release ${commit.slice(0, 8)} (version ${version})`
  if (found.length === 0) console.log(`Compatible with ${release}`)
  else if (NEWEST_VERSION > version)
    console.log(
      `${found.length} incompatible with ${release}; the new version is ${NEWEST_VERSION}`,
    )
  else
    console.log(
      `${found.length} incompatible with ${release}. Keep what clients use, or add a version to ` +
        'src/http/version/versions.ts: see docs/versioning.md.',
    )
  return found.length > 0 && NEWEST_VERSION <= version ? 1 : 0
}

const { values } = parseArgs({ options: { release: { type: 'string' } } })
if (values.release === undefined) process.exitCode = check()
else storeRelease(values.release)
