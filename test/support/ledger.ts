import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'

export const ledgerStub = ({ id }: { id: string }) => env.LEDGER.get(env.LEDGER.idFromName(id))

/** Aborts the account's ledger in the middle of its work. Only what it has stored survives. */
export const crashLedger = (account: { id: string }): Promise<unknown> =>
  runInDurableObject(ledgerStub(account), (_, state) => state.abort('crashed by the test')).catch(
    () => {},
  )
