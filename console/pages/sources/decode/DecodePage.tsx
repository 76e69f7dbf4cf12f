import { useAction } from '../../../api/resource.ts'
import type { PastedPush } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Choices } from '../../../ui/form/Choices.tsx'
import { bindFields, useInput } from '../../../ui/form/draft.ts'
import { Form } from '../../../ui/form/Form.tsx'
import {
  choicesOf,
  SecretField,
  SelectField,
  TextArea,
  TextField,
} from '../../../ui/form/fields.tsx'
import { Card, Page } from '../../../ui/Page.tsx'
import { Empty } from '../../../ui/states.tsx'
import { PROVIDERS, type Provider, sampleOf } from '../samples.ts'
import { decodeSettings, SPEED_UNITS } from '../sourceFormState.ts'
import { Decoded, useDecoded } from './Decoded.tsx'
import '../sources.css'

interface Pasted {
  provider: Provider
  speedUnit: string
  encryptionKey: string
  contentType: string
  query: string
  headers: string
  form: 'text' | 'base64'
  body: string
}

const EMPTY: Pasted = {
  provider: 'garmin',
  speedUnit: 'kn',
  encryptionKey: '',
  contentType: '',
  query: '',
  headers: '',
  form: 'text',
  body: '',
}

const FORMS = choicesOf(['text', 'base64'], later.decode.bodyForms)

/** `Name: value`, one a line. */
const headersOf = (typed: string): Record<string, string> =>
  Object.fromEntries(
    typed.split('\n').flatMap((line) => {
      const at = line.indexOf(':')
      return at > 0 ? [[line.slice(0, at).trim(), line.slice(at + 1).trim()]] : []
    }),
  )

const pushOf = (pasted: Pasted): PastedPush => {
  const { provider, contentType, query, headers, form, body } = pasted
  return {
    provider,
    ...decodeSettings(provider, pasted),
    ...(contentType.trim() && { contentType: contentType.trim() }),
    ...(query.trim() && { query: query.trim().replace(/^\?/, '') }),
    ...(headers.trim() && { headers: headersOf(headers) }),
    ...(body !== '' && (form === 'text' ? { body } : { bodyBase64: body.replaceAll(/\s/g, '') })),
  }
}

const exampleOf = (provider: Provider): Pasted => {
  const sample = sampleOf(provider, Date.now())
  return {
    ...EMPTY,
    provider,
    contentType: sample.contentType ?? '',
    query: sample.query ?? '',
    headers: Object.entries(sample.headers ?? {})
      .map((header) => header.join(': '))
      .join('\n'),
    body: sample.body ?? '',
  }
}

export default () => {
  const { draft, change } = useInput<Pasted>(EMPTY)
  const { decoded, decode } = useDecoded()
  const submit = useAction(() => decode(pushOf(draft)))
  const { error } = submit
  const bind = bindFields({ draft, change, error })
  const settings = bindFields({ draft, change, error, under: '/settings' })
  return (
    <Page
      title={later.decode.title}
      parent={{ href: '/sources', label: text.sources.title }}
      lead={later.decode.lead}
    >
      <div class="columns">
        <Card title={later.decode.payload}>
          <Form
            submitLabel={later.decode.submit}
            action={submit}
            actions={
              <Button icon="edit" onClick={() => change(exampleOf(draft.provider))}>
                {later.decode.example}
              </Button>
            }
          >
            <SelectField
              label={later.sources.provider}
              {...bind.choice('provider')}
              choices={PROVIDERS.map((value) => ({
                value,
                label: later.providers[value].name,
              }))}
            />
            {draft.provider === 'osmand' && (
              <SelectField
                label={later.sources.speedUnit}
                {...settings.choice('speedUnit')}
                choices={SPEED_UNITS}
              />
            )}
            {draft.provider === 'owntracks' && (
              <SecretField
                label={later.sources.encryptionKey}
                hint={later.decode.keyHint}
                {...settings.text('encryptionKey')}
                isOptional
              />
            )}
            <TextField
              label={later.decode.contentType}
              {...bind.text('contentType')}
              placeholder="application/json"
              isOptional
              isCode
            />
            <TextField
              label={later.decode.query}
              hint={later.decode.queryHint}
              {...bind.text('query')}
              isOptional
              isCode
            />
            <TextArea
              label={later.decode.headers}
              hint={later.decode.headersHint}
              {...bind.text('headers')}
              rows={2}
              isOptional
            />
            <Choices
              label={later.decode.bodyForm}
              value={draft.form}
              choices={FORMS}
              onChange={(form) => change({ form })}
            />
            <TextArea
              label={later.decode.body}
              {...bind.text('body')}
              pointer={draft.form === 'text' ? '/body' : '/bodyBase64'}
              rows={10}
              isOptional
            />
          </Form>
        </Card>
        <Card>
          {decoded ? (
            <Decoded decoded={decoded} />
          ) : (
            <Empty icon="search" title={later.decode.result}>
              {later.decode.nothingHint}
            </Empty>
          )}
        </Card>
      </div>
    </Page>
  )
}
