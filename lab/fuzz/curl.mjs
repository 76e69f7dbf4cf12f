const quote = (text) => `'${text.replaceAll("'", `'\\''`)}'`
const shorten = (text, maxLength) =>
  text.length > maxLength ? `${text.slice(0, maxLength)}… (${text.length} characters)` : text

/**
 * A request as a curl command, and its reply. Tokens are left out: their account no longer exists.
 */
export function formatCurl({ method, path, headers, body }, reply) {
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
