import { call } from '../../api/client.ts'
import type { Operations } from '../../api/operations.ts'
import { useResource } from '../../api/resource.ts'
import { formatNumber } from '../../format/units.ts'
import { usePolling } from '../../live/usePolling.ts'
import { operatorText as words } from '../../text/operator.ts'
import { Badge, Card, Facts, Page } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'

const POLL_MS = 30_000
const MEGABYTE = 1e6

type Cell = Operations['GET /admin/health']['reply']['cells'][number]

/** Since when something waits, and of which account. */
const Since = ({ of }: { of: { since: string; accountId: string; count?: number } | null }) =>
  of === null ? (
    <span class="muted">{words.health.nothing}</span>
  ) : (
    <span class="two-lines">
      <span>
        {of.count !== undefined && `${formatNumber(of.count)}, `}
        <Time value={of.since} isRelative />
      </span>
      <a href={`/operator/accounts/${of.accountId}`}>{of.accountId}</a>
    </span>
  )

const sizeText = ({ sizeBytes, share }: Cell): string =>
  sizeBytes === null
    ? words.health.unknown
    : words.health.sizeOf(
        formatNumber(sizeBytes / MEGABYTE, 1),
        formatNumber((share ?? 0) * 100, 1),
      )

const CellCard = ({ cell }: { cell: Cell }) => (
  <Card
    title={words.health.cell(cell.cell)}
    actions={
      <span class="badges">
        {cell.problems.length === 0 ? (
          <Badge kind="good">{words.health.ok}</Badge>
        ) : (
          cell.problems.map((problem) => (
            <Badge key={problem} kind="bad">
              {words.health.problems[problem] ?? problem}
            </Badge>
          ))
        )}
      </span>
    }
  >
    {cell.reachable ? (
      <Facts
        facts={[
          [words.health.accounts, formatNumber(cell.accounts)],
          [words.health.size, sizeText(cell)],
          [
            words.health.cellSchema,
            <code key="schema">{cell.schema ?? words.health.unknown}</code>,
          ],
          [words.health.lastSweep, <Time key="sweep" value={cell.lastSweep} isRelative />],
          [words.health.alert, <Since key="alert" of={cell.oldestPendingAlert} />],
          [words.health.emergency, <Since key="emergency" of={cell.oldestUnsentEmergency} />],
          [words.health.message, <Since key="message" of={cell.oldestUnsentMessage} />],
          [words.health.outbox, <Since key="outbox" of={cell.oldestOutboxEntry} />],
          [words.health.webhooks, <Since key="webhooks" of={cell.webhooksBehind} />],
          [
            words.health.parts,
            <ul key="parts" class="sweep-parts">
              {cell.sweepParts.map(({ part, at }) => (
                <li key={part}>
                  {words.health.partNames[part] ?? part}: <Time value={at} isRelative />
                </li>
              ))}
            </ul>,
          ],
        ]}
      />
    ) : (
      <p>{words.health.unreachable}</p>
    )}
  </Card>
)

/** Whether the service does its work, by cell. */
export const HealthPage = () => {
  const health = useResource((signal) => call('GET /admin/health', { signal }), [])
  usePolling(async (signal) => {
    const read = await call('GET /admin/health', { signal })
    health.set(() => read)
  }, POLL_MS)
  const { data } = health
  return (
    <Page title={words.health.title}>
      {data ? (
        <>
          <Card>
            <Facts
              facts={[
                [
                  words.accounts.state,
                  <Badge key="status" kind={data.status === 'ok' ? 'good' : 'bad'}>
                    {words.health[data.status]}
                  </Badge>,
                ],
                [words.health.schema, <code key="schema">{data.schema.expected}</code>],
                [words.health.ledger, data.schema.ledger ?? words.health.unknown],
              ]}
            />
          </Card>
          <div class="columns">
            {data.cells.map((cell) => (
              <CellCard key={cell.cell} cell={cell} />
            ))}
          </div>
        </>
      ) : (
        <NotLoaded of={health} />
      )}
    </Page>
  )
}
