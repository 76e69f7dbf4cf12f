import { deviceName } from '../../api/names.ts'
import { usePeople } from '../../api/people.ts'
import { ruleName, zoneName } from '../../api/zonesAndRules.ts'
import { auditText as words } from '../../text/audit.ts'
import { text } from '../../text/text.ts'
import { AuditList } from '../../ui/audit/AuditList.tsx'
import { SettingsFrame } from './SettingsFrame.tsx'

/** The pages of what has one. */
const PAGES: Record<string, string> = {
  alert: '/alerts',
  device: '/devices',
  group: '/groups',
  rule: '/rules',
  source: '/sources',
  user: '/users',
  watch: '/watches',
  webhook: '/webhooks',
  zone: '/zones',
}

const NAMES: Record<string, (id: string) => string | null | undefined> = {
  device: deviceName,
  rule: ruleName,
  zone: zoneName,
}

export default () => {
  const { data: people } = usePeople()
  return (
    <SettingsFrame title={text.settings.title} lead={words.lead}>
      <AuditList
        of="GET /api/account/audit"
        kinds={words.kinds}
        hrefOf={({ resource: { type, id } }) => (PAGES[type] ? `${PAGES[type]}/${id}` : null)}
        nameOf={({ resource: { type, id } }) => NAMES[type]?.(id) ?? people?.get(id)}
      />
    </SettingsFrame>
  )
}
