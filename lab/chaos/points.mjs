import { once } from 'node:events'
import { createServer } from 'node:http'

/** Where the fail points of the test build report. Lets each go on, but for the one that is armed: there the process ends. */
export async function listenForPoints() {
  let reached = []
  let trap = null
  const server = createServer((request, response) => {
    const point = decodeURIComponent(request.url.slice(1))
    reached.push(point)
    if (trap?.point === point && --trap.left === 0) trap.spring()
    else response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${server.address().port}`,
    /** Answers the list that what is reached from here on is put in, in order. */
    watch() {
      reached = []
      return reached
    },
    /** Kills when a point is reached for the nth time from here on; settles once the process is gone. */
    killAt(point, nth, kill) {
      return new Promise((resolve, reject) => {
        const spring = () => {
          trap = null
          kill().then(resolve, reject)
        }
        trap = { point, left: nth, spring }
      })
    },
    disarm() {
      trap = null
    },
    close: () => server.closeAllConnections() ?? server.close(),
  }
}
