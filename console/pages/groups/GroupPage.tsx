import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction, useResource } from '../../api/resource.ts'
import { saveChanges } from '../../api/saveChanges.ts'
import type { Group } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { Button } from '../../ui/Button.tsx'
import { DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { DevicePicker } from '../../ui/form/DevicePicker.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { TextArea, TextField } from '../../ui/form/fields.tsx'
import { DeviceLink } from '../../ui/links.tsx'
import { NotAllowed } from '../../ui/NotAllowed.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { canEditGroups } from './GroupsPage.tsx'

const MAX_DEVICES = 10_000
const MAX_CHARS = 2000
const parent = { href: '/groups', label: text.groups.title }

const bodyOf = (group: Group | null) => ({
  name: group?.name ?? '',
  description: group?.description ?? '',
  devices: group?.devices ?? [],
})

const GroupForm = ({ group }: { group: Group | null }) => {
  const { draft, change, stored } = useDraft(() => bodyOf(group))
  const save = useAction(async () => {
    if (group) {
      const params = { groupId: group.id }
      const changes = { params, before: stored, after: draft, read: bodyOf }
      await saveChanges('/api/groups/{groupId}', changes)
    } else await call('POST /api/groups', { body: draft })
    setLeaveGuard(null)
    toast(text.common.saved)
    navigate('/groups')
  })
  const { error } = save
  const bind = bindFields({ draft, change, error })
  return (
    <Form
      submitLabel={group ? text.common.save : text.groups.create}
      cancelHref="/groups"
      action={save}
      isNarrow
    >
      <TextField
        label={text.groups.name}
        {...bind.text('name')}
        maxLength={200}
        required
        autofocus={!group}
      />
      <TextArea
        label={text.groups.description}
        {...bind.text('description')}
        maxLength={MAX_CHARS}
        isOptional
      />
      <DevicePicker
        label={text.groups.devices}
        maxCount={MAX_DEVICES}
        {...bind.several('devices')}
      />
    </Form>
  )
}

const DeleteGroup = ({ group }: { group: Group }) => (
  <DeleteButton
    title={text.groups.deleteTitle(group.name)}
    confirmLabel={text.groups.deleteConfirm}
    question={text.groups.deleteQuestion}
    name={group.name}
    onDelete={() => call('DELETE /api/groups/{groupId}', { params: { groupId: group.id } })}
    deleted={text.groups.deleted(group.name)}
    href="/groups"
  />
)

/** Names are read for what is shown: a group may have 10,000 devices. */
const SHOWN_DEVICES = 100

const ReadOnly = ({ group: { description, devices } }: { group: Group }) => {
  const [count, setCount] = useState(SHOWN_DEVICES)
  return (
    <Card title={text.groups.devices}>
      {description && <p>{description}</p>}
      {devices.length === 0 ? (
        <p class="muted">{text.picker.noneChosen}</p>
      ) : (
        <ul class="plain-list">
          {devices.slice(0, count).map((id) => (
            <li key={id}>
              <DeviceLink id={id} />
            </li>
          ))}
        </ul>
      )}
      {devices.length > count && (
        <Button onClick={() => setCount(count + SHOWN_DEVICES)}>{text.common.loadMore}</Button>
      )}
    </Card>
  )
}

export default ({ params: { groupId = '' } }: PageProps) => {
  const isNew = groupId === 'new'
  const { data, error, reload } = useResource<Group | null>(
    async (signal) =>
      isNew ? null : call('GET /api/groups/{groupId}', { params: { groupId }, signal }),
    [groupId],
  )
  if (isNew && !canEditGroups()) return <NotAllowed />
  if (isNew)
    return (
      <Page title={text.groups.add} parent={parent}>
        <GroupForm group={null} />
      </Page>
    )
  if (!data)
    return (
      <Page title={text.groups.group} parent={parent}>
        <Unloaded error={error} onRetry={reload} icon="group" />
      </Page>
    )
  return (
    <Page
      title={data.name}
      parent={parent}
      actions={canEditGroups() && <DeleteGroup group={data} />}
    >
      {canEditGroups() ? <GroupForm key={data.id} group={data} /> : <ReadOnly group={data} />}
      <WhoChanged key={`audit-${data.id}`} id={data.id} />
    </Page>
  )
}
