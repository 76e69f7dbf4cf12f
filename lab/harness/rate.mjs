/** Runs `next` in so many parallel loops; returns completed runs per second. */
export async function measureRate(durationMs, concurrency, next) {
  const startedAt = performance.now()
  const endsAt = startedAt + durationMs
  let completed = 0
  const loop = async () => {
    while (performance.now() < endsAt) {
      await next()
      completed++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
  return completed / ((performance.now() - startedAt) / 1000)
}

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

/**
 * Measures several candidates in turn, in alternating order, so that a disturbance affects all of them.
 * Returns the rates of each by round. `prepare[name]` runs before each round of a candidate, untimed.
 */
export async function measureInterleaved(
  candidates,
  { rounds, durationMs, concurrency, prepare = {} },
) {
  const names = Object.keys(candidates)
  const rates = Object.fromEntries(names.map((name) => [name, []]))
  for (const name of names) await measureRate(durationMs / 2, concurrency, candidates[name])
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? names.toReversed() : names) {
      prepare[name]?.()
      rates[name].push(await measureRate(durationMs, concurrency, candidates[name]))
    }
  }
  return rates
}

/** The median of the ratios of each round. */
export const medianRatio = (numerators, denominators) =>
  median(numerators.map((value, round) => value / denominators[round]))

/** Returns a function that gives the values one after the other, again and again. */
export const cycle = (values) => {
  let index = 0
  return () => values[index++ % values.length]
}
