import { useId, useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { readPage } from '../../api/list.ts'
import { deviceName, rememberNames } from '../../api/names.ts'
import { usePages } from '../../api/resource.ts'
import { text } from '../../text/text.ts'
import { Button } from '../Button.tsx'
import { Icon } from '../Icon.tsx'
import { Failed } from '../states.tsx'
import { FieldError } from './fieldGroups.tsx'
import { SearchInput } from './SearchInput.tsx'

const MAX_FOUND = 20
const MAX_CHIPS = 60

interface DevicePickerProps {
  label: string
  hint?: string
  values: readonly string[]
  onChange: (values: string[]) => void
  /** With 1, another choice replaces the first. */
  maxCount: number
  pointer?: string
  error?: PerigeeError | null
  disabled?: boolean
}

const Chip = ({ id, onRemove }: { id: string; onRemove: () => void }) => {
  const name = deviceName(id) ?? id
  return (
    <li>
      <button type="button" class="chip" onClick={onRemove}>
        <span class="visually-hidden">{text.picker.remove} </span>
        {name}
        <Icon name="close" size={14} />
      </button>
    </li>
  )
}

/** Chooses devices: a search with check boxes, and what is chosen. */
export const DevicePicker = ({
  label,
  hint,
  values,
  onChange,
  maxCount,
  pointer,
  error,
}: DevicePickerProps) => {
  const isSingle = maxCount === 1
  const id = useId()
  const [words, setWords] = useState('')
  const [isAllShown, setIsAllShown] = useState(false)
  const found = usePages(
    async (cursor, signal) => {
      const query = { contains: words, limit: MAX_FOUND, cursor }
      const page = await readPage('GET /api/devices', 'devices', { query, signal })
      rememberNames(page.items)
      return page
    },
    [words],
  )
  const isNothingFound = found.items.length === 0 && !found.isPending && !found.error
  const chosen = new Set(values)
  const toggle = (deviceId: string) =>
    onChange(
      chosen.has(deviceId)
        ? values.filter((one) => one !== deviceId)
        : isSingle
          ? [deviceId]
          : [...values, deviceId],
    )
  const shown = isAllShown ? values : values.slice(0, MAX_CHIPS)
  return (
    <fieldset class="picker">
      <legend>{label}</legend>
      {hint && <p class="hint">{hint}</p>}
      <p class="picker-count" aria-live="polite">
        {values.length === 0 ? text.picker.noneChosen : text.picker.chosen(values.length)}
      </p>
      {values.length > 0 && (
        <ul class="chips">
          {shown.map((one) => (
            <Chip key={one} id={one} onRemove={() => toggle(one)} />
          ))}
          {shown.length < values.length && (
            <li>
              <Button size="small" kind="quiet" onClick={() => setIsAllShown(true)}>
                {text.picker.showAll}
              </Button>
            </li>
          )}
        </ul>
      )}
      <FieldError label={label} pointer={pointer} error={error} isList />
      <SearchInput label={text.picker.search} value={words} onInput={setWords} />
      {found.error && <Failed error={found.error} onRetry={found.reload} />}
      <ul class="picker-found" aria-busy={found.isPending}>
        {found.items.map((device) => (
          <li key={device.id}>
            <label for={`${id}-${device.id}`}>
              <input
                id={`${id}-${device.id}`}
                type={isSingle ? 'radio' : 'checkbox'}
                name={isSingle ? id : undefined}
                checked={chosen.has(device.id)}
                disabled={!isSingle && !chosen.has(device.id) && values.length >= maxCount}
                onChange={() => toggle(device.id)}
              />
              <span>
                {device.name} <span class="muted">{device.identifier}</span>
              </span>
            </label>
          </li>
        ))}
        {isNothingFound && <li class="muted">{text.picker.nothingFound}</li>}
      </ul>
    </fieldset>
  )
}
