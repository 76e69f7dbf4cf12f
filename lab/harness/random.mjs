/** Random values that are the same for the same seed (sfc32). */
export function createRandom(seed) {
  let [a, b, c, counter] = [seed >>> 0, (seed / 2 ** 32) >>> 0, 0x9e3779b9, 1]
  const next = () => {
    const sum = (a + b + counter++) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + sum
    return (sum >>> 0) / 2 ** 32
  }
  for (let discarded = 0; discarded < 12; discarded++) next()

  const int = (from, to) => from + Math.floor(next() * (to - from + 1))
  const pick = (values) => values[int(0, values.length - 1)]
  return {
    next,
    /** Includes both bounds. */
    int,
    pick,
    chance: (probability) => next() < probability,
    /** A name out of `{ name: weight }`. */
    pickWeighted(weights) {
      let rest = next() * Object.values(weights).reduce((sum, weight) => sum + weight, 0)
      for (const [name, weight] of Object.entries(weights)) {
        rest -= weight
        if (rest < 0) return name
      }
      return Object.keys(weights)[0]
    },
    text: (length, alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789') =>
      Array.from({ length }, () => pick(alphabet)).join(''),
  }
}
