import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import { useAction, useResource } from '../../api/resource.ts'
import type { Group, GroupBody } from '../../api/types.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { DeviceLink } from '../../ui/DeviceLink.tsx'
import { DevicePicker } from '../../ui/DevicePicker.tsx'
import { Confirm } from '../../ui/Dialog.tsx'
import { TextArea, TextField } from '../../ui/fields.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Refusal, Unloaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import { canEditGroups } from './GroupsPage.tsx'

const MAX_DEVICES = 10_000
const MAX_CHARS = 2000
const parent = { href: '/groups', label: text.groups.title }

const GroupForm = ({ group }: { group: Group | null }) => {
  const [before] = useState<Required<GroupBody>>({
    name: group?.name ?? '',
    description: group?.description ?? '',
    devices: group?.devices ?? [],
  })
  const [body, setBody] = useState(before)
  const [isDirty, setIsDirty] = useState(false)
  useLeaveGuard(isDirty)
  const change = (changes: Partial<GroupBody>) => {
    setIsDirty(true)
    setBody((before) => ({ ...before, ...changes }))
  }
  const save = useAction(async () => {
    if (group)
      await call('PATCH /api/groups/{groupId}', {
        params: { groupId: group.id },
        body: changesOf(before, body),
      })
    else await call('POST /api/groups', { body })
    setLeaveGuard(null)
    toast(text.common.saved)
    navigate('/groups')
  })
  return (
    <form
      class="stack form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isPending) void save.run()
      }}
    >
      <TextField
        label={text.groups.name}
        value={body.name}
        onInput={(name) => change({ name })}
        pointer="/name"
        error={save.error}
        maxLength={200}
        required
        autofocus={!group}
      />
      <TextArea
        label={text.groups.description}
        value={body.description ?? ''}
        onInput={(description) => change({ description })}
        pointer="/description"
        error={save.error}
        maxLength={MAX_CHARS}
        isOptional
      />
      <DevicePicker
        label={text.groups.devices}
        ids={body.devices ?? []}
        onChange={(devices) => change({ devices })}
        maxCount={MAX_DEVICES}
      />
      {save.error && <Refusal error={save.error} />}
      <div class="form-actions">
        <Button type="submit" kind="primary" isPending={save.isPending}>
          {group ? text.common.save : text.groups.create}
        </Button>
        <LinkButton href="/groups">{text.common.cancel}</LinkButton>
      </div>
    </form>
  )
}

const DeleteGroup = ({ group }: { group: Group }) => {
  const [isAsking, setIsAsking] = useState(false)
  const remove = useAction(async () => {
    await call('DELETE /api/groups/{groupId}', { params: { groupId: group.id } })
    setLeaveGuard(null)
    toast(text.groups.deleted(group.name))
    navigate('/groups')
  })
  return (
    <>
      <Button kind="danger" icon="trash" onClick={() => setIsAsking(true)}>
        {text.common.delete}
      </Button>
      {isAsking && (
        <Confirm
          title={text.groups.deleteTitle(group.name)}
          confirmLabel={text.groups.deleteConfirm}
          onConfirm={() => remove.run()}
          onClose={() => setIsAsking(false)}
          isPending={remove.isPending}
          error={remove.error}
          name={group.name}
        >
          <p>{text.groups.deleteQuestion}</p>
        </Confirm>
      )}
    </>
  )
}

const ReadOnly = ({ group }: { group: Group }) => (
  <Card title={text.groups.devices}>
    {group.description && <p>{group.description}</p>}
    {group.devices.length === 0 ? (
      <p class="muted">{text.picker.noneChosen}</p>
    ) : (
      <ul class="plain-list">
        {group.devices.map((id) => (
          <li key={id}>
            <DeviceLink id={id} />
          </li>
        ))}
      </ul>
    )}
  </Card>
)

export default ({ params: { groupId = '' } }: PageProps) => {
  const isNew = groupId === 'new'
  const { data, error, reload } = useResource<Group | null>(
    async (signal) =>
      isNew ? null : call('GET /api/groups/{groupId}', { params: { groupId }, signal }),
    [groupId],
  )
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
    </Page>
  )
}
