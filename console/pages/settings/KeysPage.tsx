import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { isAdmin, readUsers } from '../../api/people.ts'
import { useAction, usePages, useResource } from '../../api/resource.ts'
import type { Key, NewKeyReply } from '../../api/types.ts'
import { now } from '../../format/time.ts'
import { session } from '../../session/session.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { Confirm, Dialog } from '../../ui/dialog/Dialog.tsx'
import { SelectField } from '../../ui/form/fields.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Empty, Refusal } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { KeySecret, NewKey } from './NewKey.tsx'
import { SettingsFrame } from './SettingsFrame.tsx'

const OVERLAPS = ['0', '3600', '86400'] as const

interface ActionProps {
  apiKey: Key
  onClose: () => void
}

const Regenerate = ({
  apiKey,
  onMade,
  onClose,
}: ActionProps & { onMade: (made: NewKeyReply) => void }) => {
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
    <Dialog
      title={text.keys.regenerateTitle(apiKey.name)}
      onClose={onClose}
      onSubmit={() => !regenerate.isPending && void regenerate.run()}
      actions={
        <>
          <Button onClick={onClose}>{text.common.cancel}</Button>
          <Button type="submit" kind="primary" isPending={regenerate.isPending}>
            {text.keys.regenerate}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>{text.keys.regenerateLead}</p>
        <SelectField
          label={text.keys.overlap}
          value={overlap}
          choices={OVERLAPS.map((value) => ({ value, label: text.keys.overlaps[value] }))}
          onChange={setOverlap}
        />
        {regenerate.error && <Refusal error={regenerate.error} />}
      </div>
    </Dialog>
  )
}

const DeleteKey = ({ apiKey, onDone, onClose }: ActionProps & { onDone: () => void }) => {
  const remove = useAction(async () => {
    await call('DELETE /api/account/keys/{keyId}', { params: { keyId: apiKey.id } })
    toast(text.keys.deleted(apiKey.name))
    onDone()
  })
  return (
    <Confirm
      title={text.keys.deleteTitle(apiKey.name)}
      confirmLabel={text.keys.deleteConfirm}
      onConfirm={() => remove.run()}
      onClose={onClose}
      isPending={remove.isPending}
      error={remove.error}
      name={apiKey.name}
    >
      <p>{text.keys.deleteQuestion}</p>
    </Confirm>
  )
}

const Expiry = ({ expires }: Pick<Key, 'expires'>) => {
  if (expires === null) return <span class="muted">{text.common.never}</span>
  return Date.parse(expires) <= now.value ? (
    <Badge kind="warn">{text.keys.expired}</Badge>
  ) : (
    <Time value={expires} />
  )
}

/** Who is signed in as a user gets no secrets of keys that are not bound to that user. */
const canRegenerate = ({ userId }: Key): boolean => {
  const user = session.me.value?.user ?? null
  return user === null || userId === user.id
}

type Open = { what: 'new' } | { what: 'regenerate' | 'delete'; key: Key }

export default () => {
  const users = useResource(async (signal) => (isAdmin() ? readUsers(signal) : []), [])
  const pages = usePages<Key>(async (cursor, signal) => {
    const reply = await call('GET /api/account/keys', { query: { cursor }, signal })
    return { items: reply.keys, nextCursor: reply.nextCursor }
  }, [])
  const [open, setOpen] = useState<Open | null>(null)
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
      label: text.keys.name,
      cell: ({ name, id }) => (
        <span class="two-lines">
          <b>{name}</b>
          <code class="muted">{id}</code>
        </span>
      ),
    },
    {
      key: 'may',
      label: text.keys.may,
      cell: ({ scopes }) => scopes.map((scope) => text.keys.scopeNames[scope]).join(', '),
    },
    {
      key: 'user',
      label: text.keys.user,
      cell: ({ userId }) => (userId ? nameOf(userId) : text.keys.noUser),
      isMinor: true,
    },
    { key: 'expires', label: text.keys.expires, cell: (one) => <Expiry {...one} /> },
    {
      key: 'used',
      label: text.keys.lastUsed,
      cell: ({ lastUsed }) => <Time value={lastUsed} isRelative />,
      isMinor: true,
    },
    {
      key: 'actions',
      label: text.common.actions,
      cell: (key) => (
        <span class="row">
          {canRegenerate(key) && (
            <Button
              size="small"
              icon="refresh"
              onClick={() => setOpen({ what: 'regenerate', key })}
            >
              {text.keys.regenerate}
            </Button>
          )}
          <Button size="small" icon="trash" onClick={() => setOpen({ what: 'delete', key })}>
            {text.common.delete}
          </Button>
        </span>
      ),
    },
  ]
  const close = () => setOpen(null)
  const generate = (
    <Button kind="primary" icon="plus" onClick={() => setOpen({ what: 'new' })}>
      {text.keys.generate}
    </Button>
  )
  return (
    <SettingsFrame title={text.settings.title} lead={text.keys.lead} actions={generate}>
      <Table
        label={text.settings.keys}
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        empty={<Empty icon="key" title={text.keys.emptyTitle} action={generate} />}
      />
      {open?.what === 'new' && <NewKey users={users.data ?? []} onMade={show} onClose={close} />}
      {open?.what === 'regenerate' && (
        <Regenerate apiKey={open.key} onMade={show} onClose={close} />
      )}
      {open?.what === 'delete' && (
        <DeleteKey
          apiKey={open.key}
          onClose={close}
          onDone={() => {
            close()
            pages.reload()
          }}
        />
      )}
      {made && <KeySecret made={made} onClose={() => setMade(null)} />}
    </SettingsFrame>
  )
}
