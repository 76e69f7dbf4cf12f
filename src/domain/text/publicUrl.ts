/*
 * Webhook URLs must be https with a public host name, so that nobody reaches a private network
 * through the service. The URL parser turns every spelling of an IPv4 address into four numbers. A
 * Worker's fetch reaches public addresses only, and with `global_fetch_strictly_public` not even
 * the origin of the Worker's own zone.
 */

export type UrlCheck = { ok: true; url: URL } | { ok: false; detail: string }

const refuse = (detail: string): UrlCheck => ({ ok: false, detail })

const MAX_URL_CHARS = 2048
const PRIVATE =
  /(^|\.)(localhost|local|internal|localdomain|intranet|private|corp|home|lan|home\.arpa)$/

const isAddress = (host: string): boolean => host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)
const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127(\.\d+){3}$/.test(host)
const isPrivateName = (host: string): boolean => !host.includes('.') || PRIVATE.test(host)

/** `allowLoopback` is for development: it also allows this machine, by http too. */
export const checkPublicUrl = (text: string, allowLoopback: boolean): UrlCheck => {
  if (text.length > MAX_URL_CHARS) return refuse(`must have at most ${MAX_URL_CHARS} characters`)
  const url = URL.parse(text)
  if (!url) return refuse('must be a URL, such as https://example.com/hook')
  if (url.username !== '' || url.password !== '')
    return refuse('must not contain a user name or password')
  const host = url.hostname.toLowerCase().replace(/\.+$/, '')
  if (allowLoopback && isLoopback(host) && /^https?:$/.test(url.protocol)) return { ok: true, url }
  if (url.protocol !== 'https:') return refuse('must begin with https://')
  if (isAddress(host)) return refuse('must have a host name, not an IP address')
  if (isPrivateName(host)) return refuse('must have a public host name')
  return { ok: true, url }
}
