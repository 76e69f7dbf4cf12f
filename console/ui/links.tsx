import { deviceName } from '../api/names.ts'
import { canSeeRules, ruleName, zoneName } from '../api/zonesAndRules.ts'
import { text } from '../text/text.ts'

/** A device by its name, with a link to its page. */
export const DeviceLink = ({ id }: { id: string }) => {
  const name = deviceName(id)
  if (name === null) return <span class="muted">{text.names.deletedDevice}</span>
  return <a href={`/devices/${encodeURIComponent(id)}`}>{name ?? id}</a>
}

/** A rule by its name, with a link to its page, for who may see it. */
export const RuleLink = ({ id }: { id: string }) => {
  if (!canSeeRules()) return <span>{text.rules.rule}</span>
  const name = ruleName(id)
  if (name === null) return <span class="muted">{text.rules.deletedRule}</span>
  return name === undefined ? <span>{id}</span> : <a href={`/rules/${id}`}>{name}</a>
}

export const ZoneLink = ({ id }: { id: string }) => {
  if (!canSeeRules()) return <span>{text.zones.zone}</span>
  const name = zoneName(id)
  if (name === null) return <span class="muted">{text.zones.deletedZone}</span>
  return name === undefined ? <span>{id}</span> : <a href={`/zones/${id}`}>{name}</a>
}

/** What raised an alert by itself: the rule and, where there is one, the zone. */
export const RaisedBy = ({ ruleId, zoneId }: { ruleId?: string; zoneId?: string }) => (
  <span class="raised-by">
    {ruleId && <RuleLink id={ruleId} />}
    {zoneId && (
      <>
        {' · '}
        <ZoneLink id={zoneId} />
      </>
    )}
  </span>
)
