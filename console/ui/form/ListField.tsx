import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { text } from '../../text/text.ts'
import { SelectField } from './fields.tsx'

/* Pickers whose values come from the API. */

interface PickerProps {
  label: string
  value: string
  onChange: (value: string) => void
  pointer?: string
  error?: PerigeeError | null
  hint?: string
  disabled?: boolean
}

type Values = Record<string, string>

/** Both lists are the same for everybody, so each is read once. */
const cache = new Map<string, Promise<Values>>()
const readOnce = (name: string, read: () => Promise<Values>): Promise<Values> => {
  const known = cache.get(name)
  if (known) return known
  const reading = read()
  reading.catch(() => cache.delete(name))
  cache.set(name, reading)
  return reading
}

const ValuePicker = ({
  values,
  ...props
}: PickerProps & { values: Values | null; hint?: string }) => {
  const entries = Object.entries(values ?? {}).sort(([, a], [, b]) => a.localeCompare(b))
  const isListed = props.value === '' || (values !== null && props.value in values)
  return (
    <SelectField
      {...props}
      choices={[
        ...(props.value === '' ? [{ value: '', label: text.picker.choose }] : []),
        ...(isListed ? [] : [{ value: props.value, label: props.value }]),
        ...entries.map(([value, label]) => ({ value, label })),
      ]}
    />
  )
}

export const CountryField = (props: PickerProps) => {
  const { data, error } = useResource(
    () =>
      readOnce(
        'countries',
        async () => (await call('GET /api/users/countries')).countries as Values,
      ),
    [],
  )
  return <ValuePicker {...props} values={data} {...(error && { hint: error.message })} />
}

export const TimeZoneField = (props: PickerProps) => {
  const { data, error } = useResource(
    () =>
      readOnce('timeZones', async () => {
        const { timeZones } = await call('GET /api/users/timeZones')
        // Many zones share a name, so the place comes first.
        const named = Object.entries(timeZones).map(([zone, name]) => [
          zone,
          name === zone ? zone : `${zone.replaceAll('_', ' ')} (${name})`,
        ])
        return Object.fromEntries(named)
      }),
    [],
  )
  return <ValuePicker {...props} values={data} {...(error && { hint: error.message })} />
}
