import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { isAdmin, readUsers } from '../../api/people.ts'
import { useAction, useResource } from '../../api/resource.ts'
import type { Key, NewKeyReply } from '../../api/types.ts'
import { now } from '../../format/time.ts'
import { session } from '../../session/session.ts'
import { auditText } from '../../text/audit.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { auditHref } from '../../ui/audit/WhoChanged.tsx'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { SelectField } from '../../ui/form/fields.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { KeySecret, NewKey } from './NewKey.tsx'
import { SettingsFrame } from './SettingsFrame.tsx'

const OVERLAPS = ['0', '3600', '86400'] as const

interface RegenerateProps {
  apiKey: Key
  onMade: (made: NewKeyReply) => void
  onClose: () => void
}

const Regenerate = ({ apiKey, onMade, onClose }: RegenerateProps) => {
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('3600')
  const regenerate = useAction(async () =>
    onMade(
      await call('POST /api/account/keys/{keyId}/regenerate', {
        params: { keyId: apiKey.id },
        body: { overlapSeconds: Number(overlap) },
      }),
    ),
  )
  return (
    <FormDialog
      title={later.keys.regenerateTitle(apiKey.name)}
      submitLabel={later.keys.regenerate}
      action={regenerate}
      onClose={onClose}
    >
      <p>{later.keys.regenerateLead}</p>
      <SelectField
        label={later.keys.overlap}
        value={overlap}
        choices={OVERLAPS.map((value) => ({ value, label: later.keys.overlaps[value] }))}
        onChange={setOverlap}
      />
    </FormDialog>
  )
}

const DeleteKey = ({ apiKey, onDone }: { apiKey: Key; onDone: () => void }) => (
  <ConfirmButton
    size="small"
    icon="trash"
    label={text.common.delete}
    title={later.keys.deleteTitle(apiKey.name)}
    question={later.keys.deleteQuestion}
    confirmLabel={later.keys.deleteConfirm}
    name={apiKey.name}
    onConfirm={async () => {
      await call('DELETE /api/account/keys/{keyId}', { params: { keyId: apiKey.id } })
      toast(later.keys.deleted(apiKey.name))
      onDone()
    }}
  />
)

const Expiry = ({ expires }: Pick<Key, 'expires'>) => {
  if (expires === null) return <span class="muted">{text.common.never}</span>
  return Date.parse(expires) <= now.value ? (
    <Badge kind="warn">{later.keys.expired}</Badge>
  ) : (
    <Time value={expires} />
  )
}

/** Who is signed in as a user gets no secrets of keys that are not bound to that user. */
const canRegenerate = ({ userId, support }: Key): boolean => {
  const user = session.me.value?.user ?? null
  return support === null && (user === null || userId === user.id)
}

export default () => {
  const users = useResource(async (signal) => (isAdmin() ? readUsers(signal) : []), [])
  const pages = useList('GET /api/account/keys', 'keys')
  const [open, setOpen] = useState<'new' | Key | null>(null)
  const [made, setMade] = useState<NewKeyReply | null>(null)
  const show = (reply: NewKeyReply) => {
    setOpen(null)
    setMade(reply)
    pages.reload()
  }
  const nameOf = (userId: string) => users.data?.find(({ id }) => id === userId)?.name ?? userId
  const columns: readonly Column<Key>[] = [
    {
      key: 'name',
      label: later.keys.name,
      cell: ({ name, id, support }) => (
        <span class="two-lines">
          <b>{name}</b>
          {support && <span>{later.support.key(support.reason)}</span>}
          <code class="muted">{id}</code>
          {isAdmin() && <a href={auditHref(id)}>{auditText.whoChanged}</a>}
        </span>
      ),
    },
    {
      key: 'permissions',
      label: later.keys.permissions,
      cell: ({ scopes }) => scopes.map((scope) => later.keys.scopeNames[scope]).join(', '),
    },
    {
      key: 'user',
      label: later.keys.user,
      cell: ({ userId }) => (userId ? nameOf(userId) : later.keys.noUser),
      isMinor: true,
    },
    {
      key: 'version',
      label: later.keys.version,
      cell: ({ version }) => version,
      isMinor: true,
    },
    { key: 'expires', label: later.keys.expires, cell: (one) => <Expiry {...one} /> },
    {
      key: 'used',
      label: later.keys.lastUsed,
      cell: ({ lastUsed }) => <Time value={lastUsed} isRelative />,
      isMinor: true,
    },
    {
      key: 'actions',
      label: text.common.actions,
      cell: (key) => (
        <span class="row">
          {canRegenerate(key) && (
            <Button size="small" icon="refresh" onClick={() => setOpen(key)}>
              {later.keys.regenerate}
            </Button>
          )}
          <DeleteKey apiKey={key} onDone={pages.reload} />
        </span>
      ),
    },
  ]
  const close = () => setOpen(null)
  const generate = (
    <Button kind="primary" icon="plus" onClick={() => setOpen('new')}>
      {later.keys.generate}
    </Button>
  )
  return (
    <SettingsFrame title={text.settings.title} lead={later.keys.lead} actions={generate}>
      <Table
        label={text.settings.keys}
        columns={columns}
        pages={pages}
        empty={<Empty icon="key" title={later.keys.emptyTitle} action={generate} />}
      />
      {open === 'new' && <NewKey users={users.data ?? []} onMade={show} onClose={close} />}
      {open !== null && open !== 'new' && (
        <Regenerate apiKey={open} onMade={show} onClose={close} />
      )}
      {made && <KeySecret made={made} onClose={() => setMade(null)} />}
    </SettingsFrame>
  )
}
