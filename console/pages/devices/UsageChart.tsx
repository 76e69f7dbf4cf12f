import { useMemo } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { DAY_MS, formatDay } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { Card } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'

const DAYS = 90
const HEIGHT = 120
const STEP = 10
const BAR = 7

interface Day {
  date: string
  emails: number
  sms: number
}

const dayBefore = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) - days * DAY_MS).toISOString().slice(0, 10)

const Bars = ({ days }: { days: readonly Day[] }) => {
  const max = Math.max(1, ...days.map(({ emails, sms }) => emails + sms))
  const scale = (count: number) => (count / max) * (HEIGHT - 4)
  const emails = days.reduce((sum, day) => sum + day.emails, 0)
  const sms = days.reduce((sum, day) => sum + day.sms, 0)
  return (
    <>
      <svg
        class="usage-chart"
        viewBox={`0 0 ${days.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${text.devices.usageTitle}: ${text.devices.usageSummary(emails, sms)}`}
      >
        {days.map((day, at) => (
          <g key={day.date}>
            <title>{text.devices.usageBar(formatDay(day.date), day.emails, day.sms)}</title>
            <rect class="ground" x={at * STEP} y={0} width={STEP} height={HEIGHT} />
            <rect
              class="emails"
              x={at * STEP + 1}
              y={HEIGHT - scale(day.emails)}
              width={BAR}
              height={scale(day.emails)}
            />
            <rect
              class="sms"
              x={at * STEP + 1}
              y={HEIGHT - scale(day.emails + day.sms)}
              width={BAR}
              height={scale(day.sms)}
            />
          </g>
        ))}
      </svg>
      <div class="usage-legend">
        <span>{formatDay(days[0]?.date ?? '')}</span>
        <span class="row">
          <span class="key emails">
            {text.devices.emails} {emails.toLocaleString('en')}
          </span>
          <span class="key sms">
            {text.devices.sms} {sms.toLocaleString('en')}
          </span>
        </span>
        <span>{formatDay(days.at(-1)?.date ?? '')}</span>
      </div>
    </>
  )
}

/** The messages of a device, day by day. */
export const UsageChart = ({ deviceId, today }: { deviceId: string; today: string }) => {
  const from = dayBefore(today, DAYS - 1)
  const usage = useResource(
    async (signal) =>
      (
        await call('GET /api/devices/{deviceId}/usage', {
          params: { deviceId },
          query: { from, to: today },
          signal,
        })
      ).usage,
    [deviceId, from, today],
  )
  const { data } = usage
  const days = useMemo<Day[]>(() => {
    const found = new Map((data ?? []).map((one) => [one.date, one]))
    return Array.from({ length: DAYS }, (_, at) => {
      const date = dayBefore(today, DAYS - 1 - at)
      const used = found.get(date)
      return { date, emails: used?.emailsSent ?? 0, sms: used?.smsSent ?? 0 }
    })
  }, [data, today])
  const isEmpty = days.every(({ emails, sms }) => emails + sms === 0)
  return (
    <Card title={text.devices.usageTitle}>
      {!data && <NotLoaded of={usage} rows={3} />}
      {data && isEmpty && <p class="muted">{text.devices.usageNone}</p>}
      {data && !isEmpty && <Bars days={days} />}
    </Card>
  )
}
