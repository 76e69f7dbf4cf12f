import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useAction } from '../../api/resource.ts'
import type { CreateOperatorReply, Operator } from '../../api/types.ts'
import { operatorText as words } from '../../text/operator.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { ConfirmButton } from '../../ui/dialog/ConfirmButton.tsx'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { SelectField } from '../../ui/form/fields.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Badge, Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { toast } from '../../ui/toast.tsx'
import { operator } from '../operator.ts'
import { EditOperator } from './EditOperator.tsx'

const OVERLAPS = ['0', '3600', '86400'] as const

interface RegenerateProps {
  of: Operator
  onMade: (made: CreateOperatorReply) => void
  onClose: () => void
}

const Regenerate = ({ of: { id, name }, onMade, onClose }: RegenerateProps) => {
  const [overlap, setOverlap] = useState<(typeof OVERLAPS)[number]>('3600')
  const regenerate = useAction(async () =>
    onMade(
      await call('POST /admin/operators/{operatorId}/regenerate', {
        params: { operatorId: id },
        body: { overlapSeconds: Number(overlap) },
      }),
    ),
  )
  return (
    <FormDialog
      title={words.operators.regenerateTitle(name)}
      submitLabel={words.operators.regenerate}
      action={regenerate}
      onClose={onClose}
    >
      <p>{words.operators.regenerateLead}</p>
      <SelectField
        label={words.operators.overlap}
        value={overlap}
        choices={OVERLAPS.map((value) => ({ value, label: words.operators.overlaps[value] }))}
        onChange={setOverlap}
      />
    </FormDialog>
  )
}

const Remove = ({ of: { id, name }, onDone }: { of: Operator; onDone: () => void }) => (
  <ConfirmButton
    size="small"
    icon="trash"
    label={words.operators.remove}
    title={words.operators.removeTitle(name)}
    question={words.operators.removeQuestion}
    confirmLabel={words.operators.remove}
    onConfirm={async () => {
      await call('DELETE /admin/operators/{operatorId}', { params: { operatorId: id } })
      toast(words.operators.removed(name))
      onDone()
    }}
  />
)

type Open = { kind: 'new' } | { kind: 'edit' | 'regenerate'; of: Operator } | null

/** Who runs the service. Owners create, change and remove operators; each replaces its own key. */
export const OperatorsPage = () => {
  const pages = useList('GET /admin/operators', 'operators')
  const [open, setOpen] = useState<Open>(null)
  const [made, setMade] = useState<CreateOperatorReply | null>(null)
  const close = () => setOpen(null)
  const show = (reply: CreateOperatorReply) => {
    close()
    if (reply.apiKey !== null) setMade(reply)
    pages.reload()
  }
  const me = operator.me.value?.id
  const isOwner = operator.may('own')
  const columns: readonly Column<Operator>[] = [
    {
      key: 'name',
      label: words.operators.name,
      cell: ({ id, name, email }) => (
        <span class="two-lines">
          <span>
            <b>{name}</b> {id === me && <Badge kind="info">{words.operators.you}</Badge>}
          </span>
          <span class="muted">{email ?? id}</span>
        </span>
      ),
    },
    { key: 'role', label: words.operators.role, cell: ({ role }) => words.roles[role] },
    {
      key: 'key',
      label: words.operators.hasKey,
      cell: ({ hasKey }) => (hasKey ? text.common.yes : text.common.none),
      isMinor: true,
    },
    {
      key: 'expires',
      label: words.operators.expires,
      cell: ({ expires }) => <Time value={expires} />,
      isMinor: true,
    },
    {
      key: 'used',
      label: words.operators.lastUsed,
      cell: ({ lastUsed }) => <Time value={lastUsed} isRelative />,
    },
    {
      key: 'actions',
      label: text.common.actions,
      cell: (one) => (
        <span class="row">
          {isOwner && (
            <Button size="small" icon="edit" onClick={() => setOpen({ kind: 'edit', of: one })}>
              {words.operators.edit}
            </Button>
          )}
          {(isOwner || (one.id === me && one.hasKey)) && (
            <Button
              size="small"
              icon="key"
              onClick={() => setOpen({ kind: 'regenerate', of: one })}
            >
              {words.operators.regenerate}
            </Button>
          )}
          {isOwner && <Remove of={one} onDone={pages.reload} />}
        </span>
      ),
    },
  ]
  const add = isOwner && (
    <Button kind="primary" icon="plus" onClick={() => setOpen({ kind: 'new' })}>
      {words.operators.add}
    </Button>
  )
  return (
    <Page title={words.operators.title} lead={words.operators.lead} actions={add}>
      <Table
        label={words.operators.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon="user" title={words.operators.emptyTitle} action={add}>
            {words.operators.empty}
          </Empty>
        }
      />
      {open?.kind === 'new' && <EditOperator before={null} onSaved={show} onClose={close} />}
      {open?.kind === 'edit' && <EditOperator before={open.of} onSaved={show} onClose={close} />}
      {open?.kind === 'regenerate' && <Regenerate of={open.of} onMade={show} onClose={close} />}
      {made && (
        <ShownOnce
          title={words.operators.keyOf(made.operator.name)}
          label={words.operators.key}
          value={made.apiKey}
          onClose={() => setMade(null)}
        />
      )}
    </Page>
  )
}
