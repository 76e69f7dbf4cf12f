import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * The server that the fail points of the test build report to. Each continues, except the armed
 * one, where the process is killed.
 */
export async function listenForFailPoints() {
  let reached = []
  let armed = null
  const server = createServer((request, response) => {
    const point = decodeURIComponent(request.url.slice(1))
    reached.push(point)
    if (armed?.point === point && --armed.remaining === 0) armed.fire()
    else response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Returns a list to which every point reached from now on is added, in order. */
    record() {
      reached = []
      return reached
    },
    /**
     * Kills when a point is reached for the nth time from now on. Resolves once the process has
     * ended.
     */
    killAt(point, nth, kill) {
      return new Promise((resolve, reject) => {
        const fire = () => {
          armed = null
          kill().then(resolve, reject)
        }
        armed = { point, remaining: nth, fire }
      })
    },
    disarm() {
      armed = null
    },
    close: () => server.closeAllConnections() ?? server.close(),
  }
}
