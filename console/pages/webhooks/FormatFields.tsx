import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { WEBHOOK_FORMATS, type Webhook } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { bindFields } from '../../ui/form/draft.ts'
import { CheckField, SecretField, SelectField, TextField } from '../../ui/form/fields.tsx'

const words = later.webhooks

export type Settings = Webhook['settings']
type Format = Webhook['format']

/** Which settings a format has. One that is not listed has a token. */
const SETTINGS_OF: Partial<Record<string, readonly string[]>> = {
  json: [],
  cot: ['token', 'cotType', 'staleMinutes'],
  earthranger: ['token', 'subjectType'],
  gundi: ['token', 'subjectType'],
  naf: ['token', 'to', 'from'],
  mqtt: ['token', 'topic', 'userName'],
}
const NUMBERS = ['staleMinutes']

/** Those of the format alone: the service refuses others. What both formats have stays. */
const settingsOf = (format: Format, before: Settings): Settings =>
  Object.fromEntries((SETTINGS_OF[format] ?? ['token']).map((name) => [name, before[name] ?? null]))

interface FormatFieldsProps {
  draft: { format: Format; settings: Settings }
  change: (changes: { format?: Format; settings: Settings }) => void
  error: PerigeeError | null
  /** Whether the webhook exists, and may have a token. */
  isStored: boolean
}

export const FormatFields = ({ draft, change, error, isStored }: FormatFieldsProps) => {
  const { format, settings } = draft
  const set = (changes: Settings) => change({ settings: { ...settings, ...changes } })
  const bind = bindFields<Record<string, string | null>>({
    draft: settings as Record<string, string | null>,
    change: (changes) => set(changes as Settings),
    error,
    under: '/settings',
  })
  const names = Object.keys(settings).filter((name) => name !== 'token')
  const isRemoved = settings.token === ''
  return (
    <>
      <SelectField
        label={words.format}
        hint={words.formatHints[format] ?? words.positionsHint}
        value={format}
        choices={WEBHOOK_FORMATS.map((value) => ({
          value,
          label: words.formatNames[value] ?? value,
        }))}
        onChange={(next) => change({ format: next, settings: settingsOf(next, settings) })}
        pointer="/format"
        error={error}
      />
      {names.map((name) => {
        const field = { label: words.settings[name] ?? name, hint: words.settingHints[name] }
        return NUMBERS.includes(name) ? (
          <TextField
            key={name}
            {...field}
            type="number"
            min={1}
            value={String(settings[name] ?? '')}
            onInput={(value) => set({ [name]: value === '' ? null : Number(value) })}
            pointer={`/settings/${name}`}
            error={error}
            isOptional
          />
        ) : (
          <TextField key={name} {...field} {...bind.textOrNull(name)} isOptional />
        )
      })}
      {'token' in settings && !isRemoved && (
        <SecretField
          label={words.settings.token ?? ''}
          hint={isStored ? words.storedTokenHint : words.tokenHint}
          {...bind.textOrNull('token')}
          autocomplete="new-password"
          isOptional
        />
      )}
      {'token' in settings && isStored && (
        <CheckField
          label={words.removeToken}
          isChecked={isRemoved}
          onChange={(isOn) => set({ token: isOn ? '' : null })}
        />
      )}
    </>
  )
}
