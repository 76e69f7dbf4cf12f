import { send } from '../harness/http.mjs'

/** Requests a second, `lanes` of them at a time. */
export async function rate(milliseconds, lanes, next) {
  const began = performance.now()
  const ends = began + milliseconds
  let done = 0
  const lane = async () => {
    while (performance.now() < ends) {
      await next()
      done++
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return done / ((performance.now() - began) / 1000)
}

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]

/** Several sides of one question in turn, the order turned round each time: what disturbs one disturbs all. Rates, round by round. `prepare` is what a side does before its rounds, untimed. */
export async function interleaved(sides, { rounds, milliseconds, lanes, prepare = {} }) {
  const names = Object.keys(sides)
  const rates = Object.fromEntries(names.map((name) => [name, []]))
  for (const name of names) await rate(milliseconds / 2, lanes, sides[name])
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 ? names.toReversed() : names) {
      prepare[name]?.()
      rates[name].push(await rate(milliseconds, lanes, sides[name]))
    }
  }
  return rates
}

/** The median of the rounds' own ratios, each of two neighbours in time. */
export const ratioOf = (above, below) => median(above.map((value, round) => value / below[round]))

/** Asks and takes no other answer than the one that the measurement is of. */
export const asker = (base, headers = {}) => {
  return async (method, path, body, type = 'application/json') => {
    const sent = body === undefined ? headers : { ...headers, 'Content-Type': type }
    const reply = await send(base, path, { method, headers: sent, body })
    if (reply.status >= 300)
      throw new Error(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 300)}`)
    return reply
  }
}

export const turnsOf = (values) => {
  let turn = 0
  return () => values[turn++ % values.length]
}
