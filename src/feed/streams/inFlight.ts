/**
 * The bytes that were sent to sockets and are not acknowledged. They count until the connection
 * ends: closing a socket does not free what its client never reads.
 */
export class InFlight {
  readonly #bytes = new Map<WebSocket, number>()
  #total = 0

  get total(): number {
    return this.#total
  }

  set(socket: WebSocket, bytes: number): void {
    this.#total += bytes - (this.#bytes.get(socket) ?? 0)
    this.#bytes.set(socket, bytes)
  }

  delete(socket: WebSocket): void {
    this.set(socket, 0)
    this.#bytes.delete(socket)
  }
}
