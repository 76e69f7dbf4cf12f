/** Whoever has one IPv6 address has all 2⁶⁴ of its network: those count as one. */
const NETWORK_GROUPS = 4
const GROUPS = 8

/** What an address is counted by: an IPv4 address itself, however it is written, of an IPv6 address the /64. */
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
