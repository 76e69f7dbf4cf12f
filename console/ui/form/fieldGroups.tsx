import type { ComponentChildren } from 'preact'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { errorAt } from '../../api/errors.ts'
import { text } from '../../text/text.ts'
import { Button, IconButton } from '../Button.tsx'
import { CheckField } from './fields.tsx'

/* Fields that belong together, with what the service says about all of them. */

interface RefusedProps {
  label: string
  pointer?: string | undefined
  error?: PerigeeError | null | undefined
  /** Whether what is said of the entries is shown here, too. */
  isList?: boolean
}

/** What the service says about a member that has no field of its own. */
export const FieldError = ({ label, pointer, error, isList }: RefusedProps) => {
  const refusal = pointer && error ? errorAt(error, pointer, isList) : null
  return refusal ? (
    <p class="field-error">
      {label} {refusal}
    </p>
  ) : null
}

export const CheckGroup = ({
  label,
  children,
  ...refused
}: RefusedProps & { children: ComponentChildren }) => (
  <fieldset class="checks">
    <legend>{label}</legend>
    {children}
    <FieldError label={label} {...refused} />
  </fieldset>
)

interface Option<T extends string> {
  value: T
  label: string
  hint?: string
}

interface SeveralFieldProps<T extends string> extends RefusedProps {
  values: readonly T[]
  options: readonly Option<T>[]
  onChange: (values: T[]) => void
}

/** Some of a few values, by check boxes. The chosen keep the order of the options. */
export const SeveralField = <T extends string>({
  values,
  options,
  onChange,
  ...props
}: SeveralFieldProps<T>) => (
  <CheckGroup {...props} isList>
    {options.map(({ value, label, hint }) => (
      <CheckField
        key={value}
        label={label}
        hint={hint}
        isChecked={values.includes(value)}
        onChange={(isChecked) =>
          onChange(
            options
              .map((one) => one.value)
              .filter((one) => (one === value ? isChecked : values.includes(one))),
          )
        }
      />
    ))}
  </CheckGroup>
)

export interface Tag {
  name: string
  value: string
}

export const tagsOf = (stored: Record<string, string>): Tag[] =>
  Object.entries(stored).map(([name, value]) => ({ name, value }))

/** What is sent of the tags: those with a name. */
export const tagRecord = (tags: readonly Tag[]): Record<string, string> =>
  Object.fromEntries(
    tags.filter(({ name }) => name.trim()).map(({ name, value }) => [name.trim(), value]),
  )

/** A merge patch adds and replaces; what was removed is null, of which the API's types know nothing. */
export const tagPatch = (
  before: Record<string, string>,
  after: Record<string, string>,
): Record<string, string> => {
  const removed = Object.keys(before).filter((name) => !(name in after))
  return {
    ...after,
    ...Object.fromEntries(removed.map((name) => [name, null as unknown as string])),
  }
}

const MAX_NAME_CHARS = 64

interface TagsFieldProps {
  tags: readonly Tag[]
  onChange: (tags: readonly Tag[]) => void
  error: PerigeeError | null
}

/** Names and values of the account's own. */
export const TagsField = ({ tags, onChange, error }: TagsFieldProps) => {
  const set = (at: number, changes: Partial<Tag>) =>
    onChange(tags.map((tag, index) => (index === at ? { ...tag, ...changes } : tag)))
  return (
    <fieldset class="stack">
      <legend class="field-legend">{text.tags.title}</legend>
      {tags.map((tag, at) => (
        <div key={at} class="tag-row">
          <input
            class="input"
            aria-label={text.tags.name}
            placeholder={text.tags.name}
            value={tag.name}
            maxLength={MAX_NAME_CHARS}
            onInput={({ currentTarget }) => set(at, { name: currentTarget.value })}
          />
          <input
            class="input"
            aria-label={text.tags.value}
            placeholder={text.tags.value}
            value={tag.value}
            onInput={({ currentTarget }) => set(at, { value: currentTarget.value })}
          />
          <IconButton
            icon="trash"
            label={text.tags.remove(tag.name)}
            onClick={() => onChange(tags.filter((_, index) => index !== at))}
          />
        </div>
      ))}
      <FieldError label={text.tags.title} pointer="/tags" error={error} />
      {tags.map(({ name }) => (
        <FieldError
          key={name}
          label={name}
          pointer={`/tags/${name.trim().replaceAll('~', '~0').replaceAll('/', '~1')}`}
          error={error}
        />
      ))}
      <div>
        <Button
          size="small"
          icon="plus"
          onClick={() => onChange([...tags, { name: '', value: '' }])}
        >
          {text.tags.add}
        </Button>
      </div>
    </fieldset>
  )
}
