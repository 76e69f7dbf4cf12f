import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Account } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { Card } from '../../ui/Page.tsx'
import { Failed, Pending } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { DrillOutcome } from '../alerts/DrillOutcome.tsx'

const Outcome = ({ alertId }: { alertId: string }) => {
  const { data, error, reload } = useResource(
    async (signal) =>
      (await call('GET /api/alerts/{alertId}', { params: { alertId }, signal })).alert,
    [alertId],
  )
  // Deleted with its device, or of a device that the viewer cannot see.
  if (error?.status === 404) return <p class="muted">{later.drill.gone}</p>
  if (!data) return error ? <Failed error={error} onRetry={reload} /> : <Pending />
  return (
    <>
      {data.drill && <DrillOutcome drill={data.drill} />}
      <div class="card-actions">
        <LinkButton icon="alert" href={`/alerts/${alertId}`}>
          {later.drill.show}
        </LinkButton>
      </div>
    </>
  )
}

/** When the emergency chain was last tested, and whom the test reached. */
export const LastDrill = ({ account: { lastDrillAt, lastDrillAlertId } }: { account: Account }) => (
  <Card title={later.drill.card}>
    <div class="stack">
      <p class="hint">{later.drill.where}</p>
      {lastDrillAt ? (
        <p>
          {later.drill.last} <Time value={lastDrillAt} />
        </p>
      ) : (
        <p class="warn-text">{later.drill.never}</p>
      )}
      {lastDrillAlertId && <Outcome alertId={lastDrillAlertId} />}
      <div>
        <LinkButton icon="device" href="/devices">
          {later.drill.choose}
        </LinkButton>
      </div>
    </div>
  </Card>
)
