import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { ApiError } from '../../api/problem.ts'
import { useAction } from '../../api/resource.ts'
import type { Rule, Zone } from '../../api/types.ts'
import { readRules, zoneIdsOf } from '../../api/watching.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/dialog/Dialog.tsx'
import { toast } from '../../ui/toast.tsx'

/** Asks first. A zone that rules use is not deleted: they are listed. */
export const DeleteZone = ({
  zone,
  onDeleted,
}: {
  zone: Zone
  onDeleted: (zone: Zone) => void
}) => {
  const [isAsking, setIsAsking] = useState(false)
  const [users, setUsers] = useState<readonly Rule[]>([])
  const remove = useAction(async () => {
    try {
      await call('DELETE /api/zones/{zoneId}', { params: { zoneId: zone.id } })
    } catch (error) {
      if (error instanceof ApiError && error.code === 'zone-in-use')
        setUsers((await readRules()).filter((rule) => zoneIdsOf(rule).includes(zone.id)))
      throw error
    }
    setLeaveGuard(null)
    toast(text.zones.deleted(zone.name))
    navigate('/zones')
    onDeleted(zone)
  })
  const isInUse = users.length > 0
  const close = () => {
    setIsAsking(false)
    setUsers([])
    remove.clear()
  }
  return (
    <>
      <Button kind="danger" icon="trash" onClick={() => setIsAsking(true)}>
        {text.common.delete}
      </Button>
      {isAsking && (
        <Confirm
          title={text.zones.deleteTitle(zone.name)}
          confirmLabel={text.zones.deleteConfirm}
          onConfirm={() => remove.run()}
          onClose={close}
          isPending={remove.isPending}
          error={isInUse ? null : remove.error}
        >
          {isInUse ? (
            <div role="alert">
              <p>{text.zones.inUse}</p>
              <ul class="plain-list">
                {users.map(({ id, name }) => (
                  <li key={id}>
                    <a href={`/rules/${id}`}>{name}</a>
                  </li>
                ))}
              </ul>
            </div>
          ) : (
            <p>{text.zones.deleteQuestion}</p>
          )}
        </Confirm>
      )}
    </>
  )
}
