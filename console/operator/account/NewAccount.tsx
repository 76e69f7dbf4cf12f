import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { CreateAccountReply, OperatedAccount } from '../../api/types.ts'
import { viewerZone } from '../../format/time.ts'
import { operatorText as words } from '../../text/operator.ts'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { CheckField, SelectField, TextField } from '../../ui/form/fields.tsx'

interface NewAccountProps {
  onOpened: (account: OperatedAccount) => void
  onClose: () => void
}

/** The browser may call its own zone by a name that its list does not have. */
const zones = [...new Set(['UTC', viewerZone, ...Intl.supportedValuesOf('timeZone')])]
const zoneChoices = zones.map((value) => ({ value, label: value.replaceAll('_', ' ') }))

/** Opens an account and shows its first key once. */
export const NewAccount = ({ onOpened, onClose }: NewAccountProps) => {
  const { draft, change } = useInput({
    name: '',
    userName: '',
    licenses: 10,
    timeZone: viewerZone,
    cell: null as number | null,
    sandbox: false,
  })
  const [opened, setOpened] = useState<CreateAccountReply | null>(null)
  const open = useAction(async () => {
    const { cell, licenses, ...given } = draft
    // A sandbox has as many licenses as it needs.
    const body = { ...given, ...(!given.sandbox && { licenses }), ...(cell !== null && { cell }) }
    setOpened(await call('POST /admin/accounts', { body }))
  })
  const bind = bindFields({ draft, change, error: open.error })
  if (opened)
    return (
      <ShownOnce
        title={words.accounts.openedTitle(opened.account.name)}
        label={words.accounts.firstKey}
        value={opened.apiKey}
        onClose={() => onOpened(opened.account)}
      />
    )
  return (
    <FormDialog
      title={words.accounts.open}
      submitLabel={words.accounts.openSubmit}
      action={open}
      onClose={onClose}
    >
      <TextField
        label={words.accounts.name}
        {...bind.text('name')}
        maxLength={200}
        autocomplete="off"
        required
        autofocus
      />
      <TextField
        label={words.accounts.userName}
        hint={words.accounts.userNameHint}
        {...bind.text('userName')}
        maxLength={64}
        autocomplete="off"
        required
      />
      {!draft.sandbox && (
        <TextField label={words.accounts.licenses} min={0} {...bind.number('licenses')} />
      )}
      <CheckField
        label={words.accounts.sandbox}
        hint={words.accounts.sandboxHint}
        {...bind.check('sandbox')}
      />
      <SelectField
        label={words.accounts.timeZone}
        hint={words.accounts.timeZoneHint}
        choices={zoneChoices}
        {...bind.choice('timeZone')}
      />
      <TextField
        label={words.accounts.newCell}
        hint={words.accounts.newCellHint}
        min={0}
        isOptional
        {...bind.numberOrNull('cell')}
      />
    </FormDialog>
  )
}
