import { stripVTControlCharacters } from 'node:util'
import { REQUEST_ID_PREFIX } from './demo/client.mjs'

const DEMO_LOG_LINE = `"requestId":"${REQUEST_ID_PREFIX}`
const WRANGLER_REPORT_LINE = /^\[wrangler:info\] POST \/api\/devices\/\w+\/locations 201/

/** Hides wrangler's start-up output; shows it on an error, after a failed start, or on demand. */
export function hideOutput(child) {
  let hidden = []
  const show = ({ fromNowOn = false } = {}) => {
    if (!fromNowOn) for (const line of hidden ?? []) process.stdout.write(line)
    hidden = undefined
  }
  const isOfDemo = recognizeDemo()
  const receive = (line) => {
    if (hidden) hidden.push(line)
    else if (!isOfDemo(line)) process.stdout.write(line)
    if (hidden && line.includes('ERROR')) show()
  }
  for (const stream of [child.stdout, child.stderr]) readLines(stream, receive)
  return show
}

/**
 * The demo reports a location every second or two, which would bury the developer's own requests.
 * Wrangler prints a second line for each, without its request id.
 */
function recognizeDemo() {
  let expectedLines = 0
  return (line) => {
    if (line.includes(DEMO_LOG_LINE) && line.includes('"status":201')) {
      expectedLines++
      return true
    }
    if (expectedLines === 0 || !WRANGLER_REPORT_LINE.test(stripVTControlCharacters(line)))
      return false
    expectedLines--
    return true
  }
}

function readLines(stream, receive) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (chunk) => {
    const lines = (rest + chunk).split(/(?<=\n)/)
    rest = lines.at(-1).endsWith('\n') ? '' : lines.pop()
    for (const line of lines) receive(line)
  })
  stream.on('end', () => rest && receive(rest))
}
