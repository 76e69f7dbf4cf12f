import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { OperatedAccount } from '../../api/types.ts'
import { formatNumber } from '../../format/units.ts'
import { operatorText as words } from '../../text/operator.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { TextField } from '../../ui/form/fields.tsx'
import { Card, Facts } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { operator } from '../operator.ts'

const MEGABYTE = 1e6
const COUNTS = [
  'locationsPerDay',
  'maxUsers',
  'maxZones',
  'requestsPerMinute',
  'maxRetentionDays',
] as const
const CHANNELS = ['Email', 'SMS', 'Push', 'Voice'] as const

type Counts<Name extends string> = Record<Name, number | null>

const pick = <Name extends string>(of: Record<Name, number>, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, of[name]])) as Counts<Name>

interface LimitsProps {
  account: OperatedAccount
  onChanged: (account: OperatedAccount) => void
}

/** Sends what was changed alone: what was not set stays the default, whatever it is by then. */
const EditLimits = ({ account, onChanged, onClose }: LimitsProps & { onClose: () => void }) => {
  const { budgets } = account
  const before = {
    own: { name: account.name, licenses: account.licenses.total },
    counts: pick(budgets, COUNTS),
    storage: { storageBytes: (budgets.storageBytes / MEGABYTE) as number | null },
    messages: pick(budgets.messagesPerDay, CHANNELS),
  }
  const own = useInput(before.own)
  const counts = useInput(before.counts)
  const storage = useInput(before.storage)
  const messages = useInput(before.messages)
  const save = useAction(async () => {
    const { storageBytes } = changesOf(before.storage, storage.draft)
    const messagesPerDay = changesOf(before.messages, messages.draft)
    const changed = {
      ...changesOf(before.counts, counts.draft),
      ...(storageBytes !== undefined && {
        storageBytes: storageBytes && Math.round(storageBytes * MEGABYTE),
      }),
      ...(Object.keys(messagesPerDay).length > 0 && { messagesPerDay }),
    }
    const body = {
      ...changesOf(before.own, own.draft),
      ...(Object.keys(changed).length > 0 && { budgets: changed }),
    }
    const params = { accountId: account.id }
    onChanged((await call('PATCH /admin/accounts/{accountId}', { params, body })).account)
    toast(text.common.saved)
    onClose()
  })
  const { error } = save
  const bind = bindFields({ ...own, error })
  const bindCount = bindFields({ ...counts, error, under: '/budgets' })
  const bindStorage = bindFields({ ...storage, error, under: '/budgets' })
  const bindMessages = bindFields({ ...messages, error, under: '/budgets/messagesPerDay' })
  return (
    <FormDialog
      title={words.limits.editTitle(account.name)}
      submitLabel={text.common.save}
      action={save}
      onClose={onClose}
    >
      <TextField label={words.limits.name} {...bind.text('name')} maxLength={200} required />
      <TextField
        label={words.limits.licenses}
        hint={words.limits.licensesHint}
        min={0}
        {...bind.number('licenses')}
      />
      <p class="hint">{words.limits.hint}</p>
      <div class="fields">
        {COUNTS.map((name) => (
          <TextField
            key={name}
            label={words.limits[name]}
            min={0}
            {...bindCount.numberOrNull(name)}
          />
        ))}
        <TextField
          label={words.limits.storageBytes}
          min={0}
          {...bindStorage.numberOrNull('storageBytes')}
        />
      </div>
      <fieldset>
        <legend class="field-legend">{words.limits.messages}</legend>
        <div class="fields">
          {CHANNELS.map((channel) => (
            <TextField
              key={channel}
              label={words.limits.channels[channel]}
              min={0}
              {...bindMessages.numberOrNull(channel)}
            />
          ))}
        </div>
      </fieldset>
    </FormDialog>
  )
}

/** What the account may use. */
export const LimitsCard = ({ account, onChanged }: LimitsProps) => {
  const [isEditing, setIsEditing] = useState(false)
  const { budgets, licenses, deletedAt } = account
  const canEdit = operator.may('own') && deletedAt === null
  return (
    <Card
      title={words.limits.title}
      actions={
        canEdit && (
          <Button size="small" icon="edit" onClick={() => setIsEditing(true)}>
            {words.limits.edit}
          </Button>
        )
      }
    >
      <Facts
        facts={[
          [words.limits.licenses, formatNumber(licenses.total)],
          ...COUNTS.map((name) => [words.limits[name], formatNumber(budgets[name])] as const),
          [words.limits.storageBytes, formatNumber(budgets.storageBytes / MEGABYTE)],
          ...CHANNELS.map(
            (channel) =>
              [
                `${words.limits.channels[channel]} ${words.limits.aDay}`,
                formatNumber(budgets.messagesPerDay[channel]),
              ] as const,
          ),
        ]}
      />
      {isEditing && (
        <EditLimits account={account} onChanged={onChanged} onClose={() => setIsEditing(false)} />
      )}
    </Card>
  )
}
