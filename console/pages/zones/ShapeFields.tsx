import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { text } from '../../text/text.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { bindFields } from '../../ui/form/draft.ts'
import { TextArea, TextField } from '../../ui/form/fields.tsx'
import type { Parsed, TypedShape } from './typedShape.ts'

interface ShapeFieldsProps {
  typed: TypedShape
  onChange: (typed: TypedShape) => void
  /** What is wrong with what is typed, once it was to be sent. */
  fault: Exclude<Parsed, { shape: unknown }> | null
  error: PerigeeError | null
  isReadOnly: boolean
}

const KINDS = ['Polygon', 'Circle'] as const

/** What the service says about the corners, with the corner that it means. */
const cornerError = (error: PerigeeError | null): string | null => {
  const found = error?.problem?.errors?.find(({ pointer }) => pointer.startsWith('/shape'))
  if (!found) return null
  const [, corner] = /^\/shape\/coordinates\/\d+\/(\d+)/.exec(found.pointer) ?? []
  return corner === undefined
    ? found.detail
    : text.zones.cornerFault(Number(corner) + 1, found.detail)
}

const CircleFields = ({ typed, onChange, fault, error, isReadOnly }: ShapeFieldsProps) => {
  const bind = bindFields({
    draft: typed,
    change: (changes) => onChange({ ...typed, ...changes }),
    error,
    disabled: isReadOnly,
  })
  const isCenterWrong = fault?.fault === 'center'
  const invalid = (value: string) =>
    isCenterWrong && !Number.isFinite(Number.parseFloat(value)) ? text.zones.faults.center : null
  return (
    <div class="pair">
      <TextField
        label={text.zones.latitude}
        {...bind.text('latitude')}
        pointer="/shape/center/1"
        invalid={invalid(typed.latitude)}
      />
      <TextField
        label={text.zones.longitude}
        {...bind.text('longitude')}
        pointer="/shape/center/0"
        invalid={invalid(typed.longitude)}
      />
      <TextField
        label={text.zones.radius}
        {...bind.text('radius')}
        pointer="/shape/radius"
        invalid={fault?.fault === 'radius' ? text.zones.faults.radius : null}
      />
    </div>
  )
}

const cornerFault = (fault: ShapeFieldsProps['fault']): string | null => {
  if (fault?.fault === 'corner') return text.zones.faults.corner(fault.line ?? 1)
  return fault?.fault === 'few' ? text.zones.faults.few : null
}

/** The shape in numbers: what the map shows, for the keyboard and for exact values. */
export const ShapeFields = (props: ShapeFieldsProps) => {
  const { typed, onChange, fault, error, isReadOnly } = props
  return (
    <div class="stack">
      {typed.kind !== 'GeoJSON' && (
        <Choices
          label={text.zones.shape}
          value={typed.kind}
          choices={KINDS.map((value) => ({ value, label: text.zones.shapes[value] }))}
          onChange={(kind) => !isReadOnly && onChange({ ...typed, kind })}
        />
      )}
      {typed.kind === 'Circle' && <CircleFields {...props} />}
      {typed.kind === 'Polygon' && (
        <TextArea
          label={text.zones.corners}
          hint={text.zones.cornersHint}
          value={typed.corners}
          onInput={(corners) => onChange({ ...typed, corners })}
          rows={6}
          disabled={isReadOnly}
          invalid={cornerFault(fault) ?? cornerError(error)}
        />
      )}
      {typed.kind === 'GeoJSON' && (
        <TextArea
          label={text.zones.geoJson}
          hint={text.zones.geoJsonHint}
          value={typed.geoJson}
          onInput={(geoJson) => onChange({ ...typed, geoJson })}
          rows={6}
          disabled={isReadOnly}
          invalid={fault ? text.zones.faults.json : cornerError(error)}
        />
      )}
    </div>
  )
}
