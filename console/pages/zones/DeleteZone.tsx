import { useState } from 'preact/hooks'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call } from '../../api/client.ts'
import type { Rule, Zone } from '../../api/types.ts'
import { readRules, zoneIdsOf } from '../../api/zonesAndRules.ts'
import { text } from '../../text/text.ts'
import { DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'

const InUse = ({ rules }: { rules: readonly Rule[] }) => (
  <div role="alert">
    <p>{text.zones.inUse}</p>
    <ul class="plain-list">
      {rules.map(({ id, name }) => (
        <li key={id}>
          <a href={`/rules/${id}`}>{name}</a>
        </li>
      ))}
    </ul>
  </div>
)

interface DeleteZoneProps {
  zone: Zone
  onDeleted: (zone: Zone) => void
}

/** Asks first. A zone that rules use is not deleted: they are listed. */
export const DeleteZone = ({ zone, onDeleted }: DeleteZoneProps) => {
  const [rules, setRules] = useState<readonly Rule[]>([])
  return (
    <DeleteButton
      title={text.zones.deleteTitle(zone.name)}
      question={text.zones.deleteQuestion}
      confirmLabel={text.zones.deleteConfirm}
      explain={({ code }) => code === 'zone-in-use' && rules.length > 0 && <InUse rules={rules} />}
      onDelete={async () => {
        try {
          await call('DELETE /api/zones/{zoneId}', { params: { zoneId: zone.id } })
        } catch (error) {
          if (error instanceof PerigeeError && error.code === 'zone-in-use')
            setRules((await readRules()).filter((rule) => zoneIdsOf(rule).includes(zone.id)))
          throw error
        }
      }}
      onDeleted={() => onDeleted(zone)}
      deleted={text.zones.deleted(zone.name)}
      href="/zones"
    />
  )
}
