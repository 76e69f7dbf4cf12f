import { useId, useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import type { Zone } from '../../api/types.ts'
import { fold } from '../../format/fold.ts'
import { later } from '../../text/later.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { bindFields } from '../../ui/form/draft.ts'
import { FieldError } from '../../ui/form/fieldGroups.tsx'
import { CheckField, SelectField, TextField } from '../../ui/form/fields.tsx'
import { SearchInput } from '../../ui/form/SearchInput.tsx'
import { hasField, RULE_TYPES, type TypedCondition } from './condition.ts'

/** A search is worth its place from here on. */
const MIN_SEARCHED = 8

interface ZonePickerProps {
  label: string
  hint?: string | undefined
  zones: readonly Zone[]
  ids: readonly string[]
  onChange: (ids: string[]) => void
  error: PerigeeError | null
}

const ZonePicker = ({ label, hint, zones, ids, onChange, error }: ZonePickerProps) => {
  const id = useId()
  const [words, setWords] = useState('')
  const shown = zones.filter(({ name }) => fold(name).includes(fold(words)))
  const toggle = (zoneId: string) =>
    onChange(ids.includes(zoneId) ? ids.filter((one) => one !== zoneId) : [...ids, zoneId])
  return (
    <fieldset class="picker">
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      {zones.length === 0 ? (
        <p class="muted">{later.rules.noZones}</p>
      ) : (
        <p class="picker-count" aria-live="polite">
          {later.rules.chosenZones(ids.length)}
        </p>
      )}
      <FieldError label={label} pointer="/when/zones" error={error} />
      {zones.length >= MIN_SEARCHED && (
        <SearchInput label={later.rules.searchZones} value={words} onInput={setWords} />
      )}
      {zones.length > 0 && (
        <ul class="picker-found">
          {shown.map((zone) => (
            <li key={zone.id}>
              <label for={`${id}-${zone.id}`}>
                <input
                  id={`${id}-${zone.id}`}
                  type="checkbox"
                  checked={ids.includes(zone.id)}
                  onChange={() => toggle(zone.id)}
                />
                <span class="swatch" style={{ background: zone.color }} />
                <span>{zone.name}</span>
              </label>
            </li>
          ))}
        </ul>
      )}
      {zones.length === 0 && (
        <div>
          <LinkButton size="small" icon="plus" href="/zones/new">
            {later.rules.makeZone}
          </LinkButton>
        </div>
      )}
    </fieldset>
  )
}

interface ConditionFieldsProps {
  typed: TypedCondition
  onChange: (typed: TypedCondition) => void
  zones: readonly Zone[]
  error: PerigeeError | null
}

export const ConditionFields = ({ typed, onChange, zones, error }: ConditionFieldsProps) => {
  const { type } = typed
  const change = (changes: Partial<TypedCondition>) => onChange({ ...typed, ...changes })
  const bind = bindFields({ draft: typed, change, error, under: '/when' })
  const isSpeed = type === 'speed'
  return (
    <div class="stack">
      <SelectField
        label={later.rules.type}
        hint={later.rules.typeHints[type]}
        {...bind.choice('type')}
        onChange={(value) => change({ type: value })}
        value={type}
        choices={RULE_TYPES.map((value) => ({ value, label: later.rules.types[value] }))}
      />
      {hasField(type, 'member') && (
        <TextField
          label={later.rules.member}
          hint={later.rules.memberHint}
          {...bind.text('member')}
          maxLength={64}
        />
      )}
      {hasField(type, 'above') && (
        <div class="pair">
          <TextField
            label={isSpeed ? later.rules.aboveSpeed : later.rules.above}
            {...bind.text('above')}
          />
          <TextField
            label={isSpeed ? later.rules.belowSpeed : later.rules.below}
            {...bind.text('below')}
          />
        </div>
      )}
      {hasField(type, 'computed') && (
        <CheckField
          label={later.rules.computed}
          hint={later.rules.computedHint}
          {...bind.check('computed')}
        />
      )}
      {hasField(type, 'minutes') && (
        <TextField label={later.rules.minutes} {...bind.text('minutes')} />
      )}
      {hasField(type, 'metres') && (
        <TextField label={later.rules.metres} {...bind.text('metres')} />
      )}
      {hasField(type, 'zones') && (
        <ZonePicker
          label={isSpeed ? later.rules.zonesOptional : later.rules.zones}
          hint={isSpeed ? later.rules.zonesHint : undefined}
          zones={zones}
          ids={typed.zones}
          onChange={(ids) => change({ zones: ids })}
          error={error}
        />
      )}
    </div>
  )
}
