import { ApiClient, type Credentials, type Settings } from './apiClient.ts'
import type { Report, ReportSummary } from './reportSummary.ts'
import { ReportQueue, type ReportSettings } from './reports.ts'
import { type StreamOptions, streamEvents } from './stream.ts'
import type { PerigeeEvent } from './types.ts'

/** The client of Perigee: `new Perigee({ url, userName, apiKey })`. */
export class Perigee extends ApiClient {
  readonly #reports: ReportQueue

  constructor(settings: Settings & ReportSettings & Credentials) {
    super(settings)
    const send = (locations: Report[]) => this.post('/api/locations', { body: { locations } })
    this.#reports = new ReportQueue(send, settings)
  }

  /**
   * Reports one location or several. They are sent in batches, soon; what cannot be sent is kept
   * and tried again. `flush` tells what became of them.
   */
  report(reports: Report | readonly Report[]): void {
    this.#reports.add([reports].flat() as Report[])
  }

  /** Sends all reports that wait. Rejects if that is not possible now; they are kept then. */
  flush(): Promise<ReportSummary> {
    return this.#reports.flush()
  }

  /** The reports that the service has not yet got. Store them if the program has to end. */
  get pending(): readonly Report[] {
    return this.#reports.pending
  }

  /** Stops sending reports by itself, so that a program can end. `pending` keeps them. */
  stop(): void {
    this.#reports.stop()
  }

  /**
   * The events of the account as they happen. An event is acknowledged when the next is asked for,
   * so one that failed in between comes again with `after`.
   */
  stream(options: StreamOptions = {}): AsyncGenerator<PerigeeEvent, void> {
    return streamEvents({ client: this, token: (refused) => this.token(refused), options })
  }
}
