const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`
const shorten = (text, most) =>
  text.length > most ? `${text.slice(0, most)}… (${text.length} characters)` : text

/** A request as a shell would send it, and what came back. Tokens are left out: they are of an account that is gone. */
export function curl({ method, path, headers, body }, reply) {
  const shown = Object.entries(headers).map(
    ([name, value]) =>
      `-H ${quote(`${name}: ${name === 'Authorization' ? 'Bearer …' : shorten(value, 200)}`)}`,
  )
  const data =
    body === undefined
      ? []
      : [
          `-d ${quote(shorten(JSON.stringify(body.toString()).slice(1, -1).replaceAll('\\"', '"'), 1000))}`,
        ]
  return `  curl -X ${method} ${[...shown, ...data].join(' ')} ${quote(shorten(path, 600))}\n    → ${reply?.status ?? 'no reply'} ${shorten(reply?.text ?? '', 600)}`
}
