import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { Source } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { ActionButton } from '../../ui/ActionButton.tsx'
import { LinkButton } from '../../ui/Button.tsx'
import { ConfirmButton, DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { toast } from '../../ui/toast.tsx'
import { Address } from './Address.tsx'

interface ActionProps {
  source: Source
}

const paramsOf = ({ id }: Source) => ({ sourceId: id })

const Rotate = ({ source }: ActionProps) => {
  const [made, setMade] = useState<{ url: string | null } | null>(null)
  return (
    <>
      <ConfirmButton
        icon="key"
        label={text.sources.rotate}
        title={text.sources.rotateTitle(source.name)}
        question={text.sources.rotateQuestion}
        confirmLabel={text.sources.rotate}
        onConfirm={async () =>
          setMade(await call('POST /api/sources/{sourceId}/rotate', { params: paramsOf(source) }))
        }
      />
      {made && <Address source={source} url={made.url} onClose={() => setMade(null)} />}
    </>
  )
}

const Enable = ({ source, onDone }: ActionProps & { onDone: (next: Source) => void }) => (
  <ActionButton
    icon={source.enabled ? 'pause' : 'check'}
    onAct={async () => {
      const { source: next } = await call('PATCH /api/sources/{sourceId}', {
        params: paramsOf(source),
        body: { enabled: !source.enabled },
      })
      onDone(next)
      toast(next.enabled ? text.sources.enabledToast : text.sources.disabledToast)
    }}
  >
    {source.enabled ? text.sources.disable : text.sources.enable}
  </ActionButton>
)

const Delete = ({ source }: ActionProps) => (
  <DeleteButton
    title={text.sources.deleteTitle(source.name)}
    confirmLabel={text.sources.deleteConfirm}
    question={text.sources.deleteQuestion}
    name={source.name}
    onDelete={() => call('DELETE /api/sources/{sourceId}', { params: paramsOf(source) })}
    deleted={text.sources.deleted(source.name)}
    href="/sources"
  />
)

/** The buttons of a source's page. */
export const SourceActions = ({
  source,
  onChange,
}: ActionProps & { onChange: (next: Source) => void }) => (
  <>
    <LinkButton icon="edit" href={`/sources/${source.id}/edit`}>
      {text.common.edit}
    </LinkButton>
    <Rotate source={source} />
    <Enable source={source} onDone={onChange} />
    <Delete source={source} />
  </>
)
