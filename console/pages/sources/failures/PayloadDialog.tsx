import { call } from '../../../api/client.ts'
import { useAction, useResource } from '../../../api/resource.ts'
import type { ReadRawPayloadReply, Source } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { Button } from '../../../ui/Button.tsx'
import { Dialog } from '../../../ui/dialog/Dialog.tsx'
import { Facts } from '../../../ui/Page.tsx'
import { Failed, Pending, Refusal } from '../../../ui/states.tsx'
import { Decoded, useDecoded } from '../decode/Decoded.tsx'
import { decodeSettings } from '../sourceFormState.ts'
import type { Failure } from '../sourceLists.ts'
import { bytesOfBase64, showBytes } from './payloadText.ts'

/** Somebody else's bytes, shown as text. */
const Body = ({ base64, size }: { base64: string | null; size: number }) => {
  if (base64 === null && size > 0) return <p>{later.failures.tooLarge}</p>
  const bytes = bytesOfBase64(base64 ?? '')
  if (bytes.byteLength === 0) return <p class="muted">{later.failures.noBody}</p>
  const shown = showBytes(bytes)
  return (
    <div>
      <p class="hint">
        {later.failures.body}: {shown.isText ? later.failures.asText : later.failures.asHex}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a keyboard must be able to scroll it. */}
      <pre class={shown.isText ? 'payload' : 'payload hex'} tabIndex={0}>
        {shown.text}
      </pre>
      {shown.cutAt !== null && <p class="hint">{later.failures.cut(shown.cutAt)}</p>}
    </div>
  )
}

const Raw = ({ raw, size }: { raw: ReadRawPayloadReply; size: number }) => {
  const headers = Object.entries(raw.headers)
  return (
    <div class="stack">
      <Facts
        facts={[
          ...(raw.contentType ? [[later.failures.contentType, raw.contentType] as const] : []),
          ...(raw.query ? [[later.failures.query, <code key="q">{raw.query}</code>] as const] : []),
          ...headers.map(([name, value]) => [name, value] as const),
        ]}
      />
      <Body base64={raw.bodyBase64} size={size} />
    </div>
  )
}

interface PayloadDialogProps {
  source: Source
  failure: Failure
  onClose: () => void
}

/** A payload that failed, and what it would become now. */
export const PayloadDialog = ({ source, failure, onClose }: PayloadDialogProps) => {
  const { data, error, reload } = useResource(
    (signal) =>
      call('GET /api/sources/{sourceId}/failures/{payloadId}/raw', {
        params: { sourceId: source.id, payloadId: failure.id },
        signal,
      }),
    [source.id, failure.id],
  )
  const { decoded, decode } = useDecoded()
  const decodeRaw = useAction(async (raw: ReadRawPayloadReply) => {
    const { contentType, query, headers, bodyBase64 } = raw
    await decode({
      provider: source.provider,
      ...decodeSettings(source.provider, source.settings),
      ...(contentType && { contentType }),
      ...(query && { query }),
      headers,
      bodyBase64: bodyBase64 ?? '',
    })
  })
  const canDecode = data !== null && (data.bodyBase64 !== null || data.query !== '')
  return (
    <Dialog
      title={later.failures.payload}
      size="large"
      onClose={onClose}
      actions={
        <>
          <Button
            icon="play"
            disabled={!canDecode}
            isPending={decodeRaw.isPending}
            onClick={() => data && void decodeRaw.run(data)}
          >
            {later.failures.decodeAgain}
          </Button>
          <Button kind="primary" onClick={onClose}>
            {text.common.close}
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>
          <b>{failure.reason}</b>
        </p>
        {error && <Failed error={error} onRetry={reload} />}
        {data ? <Raw raw={data} size={failure.size} /> : !error && <Pending />}
        {decodeRaw.error && <Refusal error={decodeRaw.error} />}
        {decoded && <Decoded decoded={decoded} />}
        {source.provider === 'owntracks' && <p class="hint">{later.failures.withoutKey}</p>}
      </div>
    </Dialog>
  )
}
