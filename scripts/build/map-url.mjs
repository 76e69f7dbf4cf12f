// Reads MAP_URL: what kind of base map it is, and from which host it comes.

const LOOPBACK = ['localhost', '127.0.0.1']

/** `pmtiles://https://…` is how styles write the address of an archive. */
const withoutScheme = (text) => text.replace(/^pmtiles:\/\//, '')

export function readMapUrl(text) {
  if (!text) return { kind: 'own', url: '', origin: '' }
  const url = withoutScheme(text)
  const { protocol, hostname, origin, pathname } = new URL(url)
  const isSafe = protocol === 'https:' || (protocol === 'http:' && LOOPBACK.includes(hostname))
  if (!isSafe) throw new Error('MAP_URL must be an https URL, or http on this machine.')
  return { kind: kindOf(text, pathname), url, origin }
}

function kindOf(text, pathname) {
  if (text.startsWith('pmtiles:') || pathname.endsWith('.pmtiles')) return 'pmtiles'
  return text.includes('{z}') ? 'tiles' : 'style'
}
