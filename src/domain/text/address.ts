/** A client usually controls a whole IPv6 /64, so that network counts as one address. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/** What rate limits count by: an IPv4 address (also if mapped into IPv6) or the /64 of an IPv6 one. */
export const networkOf = (address: string): string => {
  if (!address.includes(':')) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped) return mapped
  const [before = [], after] = address
    .split('::')
    .map((side) => (side === '' ? [] : side.split(':')))
  const zeros = after
    ? Array.from({ length: Math.max(0, GROUPS - before.length - after.length) }, () => '0')
    : []
  const groups = [...before, ...zeros, ...(after ?? [])].slice(0, NETWORK_GROUPS)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
