import { useState } from 'preact/hooks'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call, callForResponse } from '../../api/client.ts'
import { isAdmin } from '../../api/people.ts'
import { useAction } from '../../api/resource.ts'
import type { Account } from '../../api/types.ts'
import { formatDay } from '../../format/time.ts'
import { formatNumber } from '../../format/units.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { Button } from '../../ui/Button.tsx'
import { Confirm } from '../../ui/dialog/ConfirmButton.tsx'
import { saveFile } from '../../ui/download.ts'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { CheckField, TextField } from '../../ui/form/fields.tsx'
import { TimeZoneField } from '../../ui/form/ListField.tsx'
import { Card, Facts } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { AccountUse, Copied } from './AccountUse.tsx'
import { Sandboxes } from './Sandboxes.tsx'
import { AccountSettings } from './SettingsFrame.tsx'
import { ZonePreview } from './ZonePreview.tsx'

const MEGABYTE = 1e6

interface FormProps {
  account: Account
  onSaved: (account: Account) => void
}

const AccountForm = ({ account, onSaved }: FormProps) => {
  const { draft, change, changes, isDirty, discard } = useDraft({
    name: account.name,
    timeZone: account.timeZone,
    retentionDays: account.retentionDays,
    supportMayWrite: account.supportMayWrite,
  })
  const [isAsking, setIsAsking] = useState(false)
  const save = useAction(async () => {
    const reply = await call('PATCH /api/account', { body: changes })
    setIsAsking(false)
    session.updateAccount(reply.account)
    onSaved(reply.account)
    toast(text.common.saved)
  })
  const isShorter = draft.retentionDays < account.retentionDays
  const { error } = save
  const canEdit = isAdmin()
  const bind = bindFields({ draft, change, error, disabled: !canEdit })
  return (
    <Form
      submitLabel={text.common.save}
      onSubmit={() => (isShorter ? setIsAsking(true) : void save.run())}
      action={save}
      canSubmit={isDirty}
      isReadOnly={!canEdit}
      actions={isDirty && <Button onClick={discard}>{text.common.discard}</Button>}
    >
      <TextField label={text.settings.name} {...bind.text('name')} maxLength={200} required />
      <TimeZoneField
        label={text.settings.timeZone}
        hint={text.settings.timeZoneHint}
        {...bind.choice('timeZone')}
      />
      {draft.timeZone !== account.timeZone && (
        <ZonePreview account={account} timeZone={draft.timeZone} />
      )}
      <TextField
        label={text.settings.retention}
        hint={text.settings.retentionHint}
        min={1}
        max={account.budgets.maxRetentionDays}
        {...bind.number('retentionDays')}
      />
      <CheckField
        label={later.support.mayWrite}
        hint={later.support.mayWriteHint}
        {...bind.check('supportMayWrite')}
      />
      {isAsking && (
        <Confirm
          title={text.settings.shorterTitle}
          question={text.settings.shorterQuestion(draft.retentionDays)}
          confirmLabel={text.settings.shorterConfirm}
          name={account.userName}
          action={save}
          onClose={() => setIsAsking(false)}
        />
      )}
    </Form>
  )
}

const Overview = ({ account }: { account: Account }) => {
  const { budgets, budgetUsage } = account
  return (
    <div class="stack">
      <Facts
        facts={[
          [text.settings.userName, <Copied key="name" value={account.userName} />],
          [text.settings.id, <Copied key="id" value={account.id} />],
          [text.settings.maxUsers, formatNumber(budgets.maxUsers)],
          [text.settings.today, formatDay(budgetUsage.date)],
        ]}
      />
      <AccountUse account={account} />
    </div>
  )
}

/** The whole file is there before it is saved: what breaks off is not taken for an export. */
const exportAccount = async ({ userName }: Account): Promise<void> => {
  const response = await callForResponse('POST /api/account/export', { isQuery: true })
  await saveFile(response, `${userName}.tar.gz`).catch(() => {
    throw new PerigeeError(later.archive.interrupted, { status: response.status })
  })
  toast(later.archive.saved)
}

const Archive = ({ account }: { account: Account }) => (
  <div class="stack">
    <p>{later.archive.lead}</p>
    <p class="hint">
      {later.archive.size(formatNumber(account.budgetUsage.storageBytes / MEGABYTE, 1))}
    </p>
    <div class="card-actions">
      <ActionButton icon="download" onAct={() => exportAccount(account)}>
        {later.archive.export}
      </ActionButton>
    </div>
  </div>
)

export default () => (
  <AccountSettings>
    {(account, onSaved) => (
      <>
        <div class="columns">
          <Card title={text.settings.account}>
            <AccountForm account={account} onSaved={onSaved} />
          </Card>
          <Card title={text.settings.overview}>
            <Overview account={account} />
          </Card>
          {isAdmin() && (
            <Card title={later.archive.title}>
              <Archive account={account} />
            </Card>
          )}
          {isAdmin() && !account.sandbox && (
            <Card title={later.sandboxes.title}>
              <Sandboxes />
            </Card>
          )}
        </div>
        <WhoChanged id={account.id} />
      </>
    )}
  </AccountSettings>
)
