/*
 * Where a webhook may lead: https to a public name, so that nobody reaches a private network through us. The parser turns an
 * IPv4 address in any spelling into four numbers; what a name resolves to is the platform's to guard.
 */

export type UrlFinding = { ok: true; url: URL } | { ok: false; detail: string }

const refuse = (detail: string): UrlFinding => ({ ok: false, detail })

const MAX_CHARACTERS = 2048
const PRIVATE_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'localdomain',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'home.arpa',
]

const isAddress = (host: string): boolean => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
const isPrivateName = (host: string): boolean =>
  !host.includes('.') ||
  PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`))

/** `allowLoopback` is for development: it lets this machine alone through, by http too. */
export const checkPublicUrl = (text: string, allowLoopback: boolean): UrlFinding => {
  if (text.length > MAX_CHARACTERS) return refuse(`must have at most ${MAX_CHARACTERS} characters`)
  const url = URL.parse(text)
  if (!url) return refuse('must be a URL')
  if (url.username !== '' || url.password !== '')
    return refuse('must not hold a user name or password')
  const host = url.hostname.toLowerCase().replace(/\.+$/, '')
  if (allowLoopback && isLoopback(host) && /^https?:$/.test(url.protocol)) return { ok: true, url }
  if (url.protocol !== 'https:') return refuse('must begin with https://')
  if (isAddress(host)) return refuse('must name a host, not an address')
  if (isPrivateName(host)) return refuse('must name a public host')
  return { ok: true, url }
}
