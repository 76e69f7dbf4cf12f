/** Chance that comes out the same for the same seed (sfc32). */
export function random(seed) {
  let [a, b, c, counter] = [seed >>> 0, (seed / 2 ** 32) >>> 0, 0x9e3779b9, 1]
  const next = () => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  for (let warm = 0; warm < 12; warm++) next()

  const int = (from, to) => from + Math.floor(next() * (to - from + 1))
  const pick = (values) => values[int(0, values.length - 1)]
  return {
    next,
    /** Both ends included. */
    int,
    pick,
    chance: (probability) => next() < probability,
    /** One of `{ name: weight }`. */
    weighed(weights) {
      let at = next() * Object.values(weights).reduce((sum, weight) => sum + weight, 0)
      for (const [name, weight] of Object.entries(weights)) {
        at -= weight
        if (at < 0) return name
      }
      return Object.keys(weights)[0]
    },
    text: (length, alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789') =>
      Array.from({ length }, () => pick(alphabet)).join(''),
  }
}
