import { useState } from 'preact/hooks'
import { changesOf } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import type { AnyAccount } from '../../api/emergency.ts'
import { isAdmin } from '../../api/people.ts'
import { useAction } from '../../api/resource.ts'
import { formatDay } from '../../format/time.ts'
import { formatNumber } from '../../format/units.ts'
import { text } from '../../text/text.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Confirm } from '../../ui/Dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { TimeZoneField } from '../../ui/ListField.tsx'
import { Meter } from '../../ui/Meter.tsx'
import { Card, Facts } from '../../ui/Page.tsx'
import { Failed, Refusal, Skeleton } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { useLeaveGuard } from '../../ui/useLeaveGuard.ts'
import { SettingsFrame, useAccount } from './SettingsFrame.tsx'
import { ZonePreview } from './ZonePreview.tsx'

const MAX_RETENTION_DAYS = 3650
const MEGABYTE = 1e6

interface FormProps {
  account: AnyAccount
  onSaved: (account: AnyAccount) => void
}

const AccountForm = ({ account, onSaved }: FormProps) => {
  const before = {
    name: account.name,
    timeZone: account.timeZone,
    retentionDays: account.retentionDays,
  }
  const [body, setBody] = useState(before)
  const [isAsking, setIsAsking] = useState(false)
  const changes = changesOf(before, body)
  const isDirty = Object.keys(changes).length > 0
  useLeaveGuard(isDirty)
  const change = (given: Partial<typeof body>) => setBody((old) => ({ ...old, ...given }))
  const save = useAction(async () => {
    const reply = await call('PATCH /api/account', { body: changes })
    setIsAsking(false)
    onSaved(reply.account)
    toast(text.common.saved)
  })
  const isShorter = body.retentionDays < account.retentionDays
  const { error } = save
  const canEdit = isAdmin()
  return (
    <form
      class="stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (save.isPending || !isDirty) return
        if (isShorter) setIsAsking(true)
        else void save.run()
      }}
    >
      <TextField
        label={text.settings.name}
        value={body.name}
        onInput={(name) => change({ name })}
        pointer="/name"
        error={error}
        maxLength={200}
        disabled={!canEdit}
        required
      />
      <TimeZoneField
        label={text.settings.timeZone}
        hint={text.settings.timeZoneHint}
        value={body.timeZone}
        onChange={(timeZone) => change({ timeZone })}
        pointer="/timeZone"
        error={error}
        disabled={!canEdit}
      />
      {body.timeZone !== account.timeZone && (
        <ZonePreview account={account} timeZone={body.timeZone} />
      )}
      <TextField
        label={text.settings.retention}
        hint={text.settings.retentionHint}
        type="number"
        min={1}
        max={MAX_RETENTION_DAYS}
        value={String(body.retentionDays)}
        onInput={(days) => change({ retentionDays: Number(days) })}
        pointer="/retentionDays"
        error={error}
        disabled={!canEdit}
      />
      {error && <Refusal error={error} />}
      {canEdit && (
        <div class="form-actions">
          <Button type="submit" kind="primary" disabled={!isDirty} isPending={save.isPending}>
            {text.common.save}
          </Button>
          {isDirty && <Button onClick={() => setBody(before)}>{text.common.discard}</Button>}
        </div>
      )}
      {isAsking && (
        <Confirm
          title={text.settings.shorterTitle}
          confirmLabel={text.settings.shorterConfirm}
          onConfirm={() => save.run()}
          onClose={() => setIsAsking(false)}
          isPending={save.isPending}
          error={error}
          name={account.userName}
        >
          <p>{text.settings.shorterQuestion(body.retentionDays)}</p>
        </Confirm>
      )}
    </form>
  )
}

const Bar = ({
  label,
  used,
  of,
  unit = '',
}: {
  label: string
  used: number
  of: number
  unit?: string
}) => {
  return (
    <div class="bar">
      <p class="bar-label">
        <span>{label}</span>
        <span>{text.settings.usedOf(formatNumber(used, 1), formatNumber(of), unit)}</span>
      </p>
      <Meter label={label} used={used} of={of} />
    </div>
  )
}

const Overview = ({ account }: { account: AnyAccount }) => {
  const { budgets, budgetUsage, licenses } = account
  return (
    <div class="stack">
      <Facts
        facts={[
          [
            text.settings.userName,
            <span key="name" class="with-button">
              <code>{account.userName}</code>
              <CopyButton value={account.userName} isSmall />
            </span>,
          ],
          [
            text.settings.id,
            <span key="id" class="with-button">
              <code>{account.id}</code>
              <CopyButton value={account.id} isSmall />
            </span>,
          ],
          [text.settings.today, formatDay(budgetUsage.date)],
        ]}
      />
      <Bar label={text.settings.licenses} used={licenses.used} of={licenses.total} />
      <Bar
        label={text.settings.locationsToday}
        used={budgetUsage.locations}
        of={budgets.locationsPerDay}
      />
      <Bar
        label={text.settings.storage}
        used={budgetUsage.storageBytes / MEGABYTE}
        of={budgets.storageBytes / MEGABYTE}
        unit="MB"
      />
    </div>
  )
}

export default () => {
  const { data, error, reload, set } = useAccount()
  return (
    <SettingsFrame title={text.settings.title} account={data}>
      {data ? (
        <div class="columns">
          <Card title={text.settings.account}>
            <AccountForm
              key={data.lastModified}
              account={data}
              onSaved={(account) => set(() => account)}
            />
          </Card>
          <Card title={text.settings.overview}>
            <Overview account={data} />
          </Card>
        </div>
      ) : error ? (
        <Failed error={error} onRetry={reload} />
      ) : (
        <Skeleton rows={6} />
      )}
    </SettingsFrame>
  )
}
