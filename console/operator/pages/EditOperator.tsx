import { changesOf } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { CreateOperatorReply, Operator } from '../../api/types.ts'
import { operatorText as words } from '../../text/operator.ts'
import { text } from '../../text/text.ts'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { CheckField, SelectField, TextField } from '../../ui/form/fields.tsx'

type Role = Operator['role']
const ROLES: readonly Role[] = ['support', 'billing', 'owner']
const roleChoices = ROLES.map((value) => ({ value, label: words.roles[value] }))

interface EditOperatorProps {
  /** Null to create one. */
  before: Operator | null
  onSaved: (reply: CreateOperatorReply) => void
  onClose: () => void
}

/** Creates an operator, or changes one. */
export const EditOperator = ({ before, onSaved, onClose }: EditOperatorProps) => {
  const stored = {
    name: before?.name ?? '',
    role: before?.role ?? ('support' as Role),
    email: before?.email ?? null,
    expires: before?.expires ?? null,
  }
  const { draft, change } = useInput({ ...stored, key: true })
  const save = useAction(async () => {
    const { key, ...body } = draft
    if (!before) return onSaved(await call('POST /admin/operators', { body: { ...body, key } }))
    const params = { operatorId: before.id }
    const patch = { params, body: changesOf(stored, body) }
    onSaved({ ...(await call('PATCH /admin/operators/{operatorId}', patch)), apiKey: null })
  })
  const bind = bindFields({ draft, change, error: save.error })
  return (
    <FormDialog
      title={before ? words.operators.editTitle(before.name) : words.operators.add}
      submitLabel={before ? text.common.save : words.operators.addSubmit}
      action={save}
      onClose={onClose}
    >
      <TextField
        label={words.operators.name}
        hint={words.operators.nameHint}
        {...bind.text('name')}
        maxLength={200}
        autocomplete="off"
        required
        autofocus
      />
      <SelectField
        label={words.operators.role}
        hint={words.operators.roleHints[draft.role]}
        choices={roleChoices}
        {...bind.choice('role')}
      />
      <TextField
        label={words.operators.email}
        hint={words.operators.emailHint}
        type="email"
        isOptional
        autocomplete="off"
        {...bind.textOrNull('email')}
      />
      {!before && (
        <CheckField
          label={words.operators.withKey}
          hint={words.operators.withKeyHint}
          {...bind.check('key')}
        />
      )}
      {(before ? before.hasKey : draft.key) && (
        <TextField label={words.operators.expires} isOptional {...bind.instant('expires')} />
      )}
    </FormDialog>
  )
}
