import { useState } from 'preact/hooks'
import { call } from '../../../api/client.ts'
import type { DecodePayloadReply, PastedPush, SourceItem } from '../../../api/types.ts'
import { formatHeight, formatPosition, formatSpeed } from '../../../format/units.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { Icon } from '../../../ui/Icon.tsx'
import { Badge } from '../../../ui/Page.tsx'
import { Time } from '../../../ui/Time.tsx'

export const useDecoded = () => {
  const [decoded, setDecoded] = useState<DecodePayloadReply | null>(null)
  const decode = async (body: PastedPush) => {
    setDecoded(null)
    setDecoded(await call('POST /api/sources/decode', { body, isQuery: true }))
  }
  return { decoded, decode }
}

const KINDS = {
  location: 'info',
  alert: 'bad',
  cancel: 'warn',
  message: 'good',
  none: 'plain',
} as const

const alertName = (name: string): string =>
  (text.alertNames as Record<string, string>)[name] ?? name

const placeOf = ({ location, latitude, longitude }: SourceItem): string | null => {
  if (location) return formatPosition(location.latitude, location.longitude)
  return typeof latitude === 'number' && typeof longitude === 'number'
    ? formatPosition(latitude, longitude)
    : null
}

const Content = ({ item }: { item: SourceItem }) => {
  const { location } = item
  const parts = [
    item.alertName && alertName(item.alertName),
    item.text,
    placeOf(item),
    location?.speed !== undefined && formatSpeed(location.speed),
    location?.accuracy !== undefined && later.decode.accuracy(formatHeight(location.accuracy)),
  ].filter(Boolean)
  return <>{parts.join(' · ')}</>
}

const Item = ({ item }: { item: SourceItem }) => {
  const time = item.location?.dateTime ?? item.dateTime
  return (
    <li>
      <Badge kind={KINDS[item.kind]}>{later.decode.kinds[item.kind]}</Badge>
      <code>{item.identifier}</code>
      {time && <Time value={time} />}
      <span class="decoded-content">
        <Content item={item} />
      </span>
    </li>
  )
}

/** What a payload would become. */
export const Decoded = ({ decoded }: { decoded: DecodePayloadReply }) => {
  const { items, failures, reply } = decoded
  return (
    <div class="stack" aria-live="polite">
      <h3>{later.decode.result}</h3>
      {items.length === 0 && <p class="muted">{later.decode.nothing}</p>}
      <ul class="decoded">
        {items.map((item, at) => (
          <Item key={at} item={item} />
        ))}
      </ul>
      {failures.length > 0 && (
        <div class="refusal">
          <Icon name="warning" />
          <div>
            <p>
              <b>{later.decode.failures}</b>
            </p>
            {failures.map((failure, at) => (
              <p key={at}>{failure}</p>
            ))}
          </div>
        </div>
      )}
      <p class="hint">
        {later.decode.reply}: {reply.status}
        {reply.body === '' ? `, ${later.decode.emptyReply}` : ''}
      </p>
      {reply.body !== '' && <pre class="payload">{reply.body}</pre>}
    </div>
  )
}
