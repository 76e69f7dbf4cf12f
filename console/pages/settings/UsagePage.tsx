import { account } from '../../api/account.ts'
import { call, callForResponse } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { ReadAccountUsageReply } from '../../api/types.ts'
import { dayIn } from '../../format/time.ts'
import { formatNumber } from '../../format/units.ts'
import { place, setQuery } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { IconButton } from '../../ui/Button.tsx'
import { saveFile } from '../../ui/download.ts'
import { Badge, Card, Facts } from '../../ui/Page.tsx'
import { NotLoaded } from '../../ui/states.tsx'
import { addMonths, lastDayOf, monthName, monthOf } from '../licenses/month.ts'
import { SettingsFrame } from './SettingsFrame.tsx'

const spanOf = (month: string) => ({ from: `${month}-01`, to: lastDayOf(month) })

const Figures = ({ usage }: { usage: ReadAccountUsageReply }) => {
  const { messages, exact } = usage
  const { labels } = later.usage
  const megabytes = usage.storageBytes / 1e6
  return (
    <>
      <Facts
        facts={[
          [labels.licenseDays, formatNumber(usage.licenseDays)],
          [labels.locations, formatNumber(usage.locations)],
          [labels.email, formatNumber(messages.email)],
          [
            labels.sms,
            later.usage.sms(formatNumber(messages.sms), formatNumber(messages.smsSegments)),
          ],
          [labels.push, formatNumber(messages.push)],
          [labels.voice, formatNumber(messages.voice)],
          [labels.storage, later.usage.megabytes(formatNumber(megabytes, megabytes < 10 ? 2 : 0))],
          [labels.requests, formatNumber(usage.requests)],
        ]}
      />
      <p class="hint">
        {later.usage.exact(exact.map((member) => labels[member]))}{' '}
        {later.usage.days(usage.timeZone)}
      </p>
    </>
  )
}

/** What the account has used in a month, as its invoice has it. */
export default () => {
  const { timeZone = 'UTC', creation } = account.value ?? {}
  const current = monthOf(dayIn(timeZone))
  const first = creation && monthOf(dayIn(timeZone, Date.parse(creation)))
  const given = place.value.query.get('month') ?? ''
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(given) ? given : current
  const usage = useResource(
    (signal) => call('GET /api/account/usage', { query: spanOf(month), signal }),
    [month],
  )
  const { data } = usage
  const show = (next: string) => setQuery({ month: next })
  const download = async () =>
    saveFile(
      await callForResponse('GET /api/account/usage', {
        query: { ...spanOf(month), format: 'csv' },
      }),
      later.usage.fileName(month),
    )
  return (
    <SettingsFrame
      title={text.settings.title}
      lead={later.usage.lead}
      actions={
        <ActionButton icon="download" onAct={download}>
          {later.usage.download}
        </ActionButton>
      }
    >
      <Card>
        <div class="usage-head">
          <IconButton
            icon="back"
            label={text.licenses.earlierMonth}
            disabled={first !== undefined && month <= first}
            onClick={() => show(addMonths(month, -1))}
          />
          <h2 aria-live="polite">{monthName(month)}</h2>
          <IconButton
            icon="chevron"
            label={text.licenses.laterMonth}
            disabled={month >= current}
            onClick={() => show(addMonths(month, 1))}
          />
          {data && (
            <Badge kind={data.closed ? 'good' : 'info'}>
              {data.closed ? later.usage.closed : later.usage.open}
            </Badge>
          )}
        </div>
        {data ? <Figures usage={data} /> : <NotLoaded of={usage} rows={8} />}
      </Card>
    </SettingsFrame>
  )
}
