import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import { API_VERSIONS, type Key, type NewKeyReply, type User } from '../../api/types.ts'
import { DAY_MS } from '../../format/time.ts'
import { session } from '../../session/session.ts'
import { later } from '../../text/later.ts'
import { FormDialog } from '../../ui/dialog/Dialog.tsx'
import { CodeLine, ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { bindFields, useInput } from '../../ui/form/draft.ts'
import { SeveralField } from '../../ui/form/fieldGroups.tsx'
import { choicesOf, SelectField, TextField } from '../../ui/form/fields.tsx'

export const SCOPES = ['ingest', 'read', 'write', 'execute', 'admin'] as const
type Scope = Key['scopes'][number]
type Lifetime = 'never' | '30' | '90' | '365' | 'custom'
const LIFETIMES: readonly Lifetime[] = ['never', '30', '90', '365', 'custom']

type Version = (typeof API_VERSIONS)[number]
/** Newest first. */
export const VERSIONS = API_VERSIONS.toReversed().map((value) => ({ value, label: value }))

/** A command that gets a token with the key: proof that it works. */
export const curlLine = (apiKey: string): string => {
  const userName = session.me.value?.account.userName ?? ''
  const body = JSON.stringify({ userName, apiKey })
  const url = `${location.origin}/api/Auth/Token`
  return `curl -sS ${url} -H 'Content-Type: application/json' -d '${body}'`
}

interface KeySecretProps {
  made: NewKeyReply
  onClose: () => void
}

export const KeySecret = ({ made, onClose }: KeySecretProps) => (
  <ShownOnce
    title={later.keys.secretTitle(made.key.name)}
    label={later.keys.secret}
    value={made.apiKey}
    onClose={onClose}
  >
    {made.apiKey !== null && (
      <>
        <p>{later.keys.tryIt}</p>
        <CodeLine label={later.keys.curl} value={curlLine(made.apiKey)} />
      </>
    )}
  </ShownOnce>
)

const expiryOf = ({ lifetime, until }: { lifetime: Lifetime; until: string | null }) => {
  if (lifetime === 'never') return null
  if (lifetime === 'custom') return until
  return new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString()
}

const choiceOf = ({ id, name, email }: Pick<User, 'id' | 'name' | 'email'>) => ({
  value: id,
  label: `${name} (${email})`,
})

/** A key of a user has no more scopes than who makes it. Reporting is a part of changing. */
const canGrant = (scope: Scope): boolean => session.can(scope === 'ingest' ? 'write' : scope)

interface NewKeyProps {
  users: readonly User[]
  onMade: (made: NewKeyReply) => void
  onClose: () => void
}

export const NewKey = ({ users, onMade, onClose }: NewKeyProps) => {
  // Who is signed in as a user can only make keys that are bound to the same user.
  const own = session.me.value?.user ?? null
  const { draft, change } = useInput(() => ({
    name: '',
    scopes: ['read'] as readonly Scope[],
    userId: own?.id ?? null,
    version: VERSIONS[0]?.value as Version,
    lifetime: 'never' as Lifetime,
    until: new Date(Date.now() + 7 * DAY_MS).toISOString() as string | null,
  }))
  const create = useAction(async () => {
    const { name, scopes, userId, version } = draft
    const body = { name, scopes: [...scopes], userId, version, expires: expiryOf(draft) }
    onMade(await call('POST /api/account/keys', { body }))
  })
  const bind = bindFields({ draft, change, error: create.error })
  return (
    <FormDialog
      title={later.keys.generate}
      submitLabel={later.keys.generateConfirm}
      action={create}
      onClose={onClose}
    >
      <TextField
        label={later.keys.name}
        hint={later.keys.nameHint}
        {...bind.text('name')}
        maxLength={200}
        autocomplete="off"
        autofocus
        required
      />
      <SeveralField
        label={later.keys.permissions}
        options={SCOPES.filter(canGrant).map((value) => ({
          value,
          label: later.keys.scopeNames[value],
          hint: later.keys.scopeHints[value],
        }))}
        {...bind.several('scopes')}
      />
      <SelectField
        label={later.keys.user}
        hint={own ? later.keys.ownUserHint : later.keys.userHint}
        choices={
          own ? [choiceOf(own)] : [{ value: '', label: later.keys.noUser }, ...users.map(choiceOf)]
        }
        {...bind.choiceOrNull('userId')}
        disabled={own !== null}
      />
      <SelectField
        label={later.keys.expires}
        choices={choicesOf(LIFETIMES, later.keys.lifetimes)}
        {...bind.choice('lifetime')}
        pointer="/expires"
      />
      {draft.lifetime === 'custom' && (
        <TextField label={later.keys.until} {...bind.instant('until')} pointer="/expires" />
      )}
      <SelectField
        label={later.keys.version}
        hint={later.keys.versionHint}
        choices={VERSIONS}
        {...bind.choice('version')}
      />
    </FormDialog>
  )
}
