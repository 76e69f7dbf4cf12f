import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import util from 'node:util'

/** A secret of 256 random bits. */
export const randomSecret = () => randomBytes(32).toString('base64url')

/** A password of 80 random bits that can be typed: without characters that look alike. */
export const randomPassword = () => {
  const alphabet = '23456789abcdefghijkmnpqrstuvwxyz'
  const letters = Array.from(randomBytes(16), (byte) => alphabet[byte % alphabet.length]).join('')
  return letters.match(/.{4}/g).join('-')
}

export function readSecrets(file) {
  return existsSync(file) ? util.parseEnv(readFileSync(file, 'utf8')) : {}
}

/**
 * Sets these names and keeps all other lines. The file is replaced at once, so that no reader sees
 * half of it.
 */
export function writeSecrets(file, values) {
  let text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  for (const [name, value] of Object.entries(values)) {
    const line = new RegExp(`^${name}=.*$`, 'm')
    if (line.test(text)) text = text.replace(line, () => `${name}=${value}`)
    else text += `${text === '' || text.endsWith('\n') ? '' : '\n'}${name}=${value}\n`
  }
  mkdirSync('.wrangler', { recursive: true })
  const draft = `.wrangler/${file}.new`
  writeFileSync(draft, text, { mode: 0o600 })
  renameSync(draft, file)
}

/** Adds the `defaults` that are missing or wrongly empty, and returns all secrets of the file. */
export function ensureSecrets(file, defaults) {
  const present = readSecrets(file)
  const missing = Object.entries(defaults).filter(
    ([name, value]) => !(name in present) || (present[name] === '' && value !== ''),
  )
  if (missing.length > 0) writeSecrets(file, Object.fromEntries(missing))
  return { ...present, ...Object.fromEntries(missing) }
}
