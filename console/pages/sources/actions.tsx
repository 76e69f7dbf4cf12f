import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import type { Source } from '../../api/types.ts'
import { later } from '../../text/later.ts'
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
        label={later.sources.rotate}
        title={later.sources.rotateTitle(source.name)}
        question={later.sources.rotateQuestion}
        confirmLabel={later.sources.rotate}
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
      toast(next.enabled ? later.sources.enabledToast : later.sources.disabledToast)
    }}
  >
    {source.enabled ? later.sources.disable : later.sources.enable}
  </ActionButton>
)

const Delete = ({ source }: ActionProps) => (
  <DeleteButton
    title={later.sources.deleteTitle(source.name)}
    confirmLabel={later.sources.deleteConfirm}
    question={later.sources.deleteQuestion}
    name={source.name}
    onDelete={() => call('DELETE /api/sources/{sourceId}', { params: paramsOf(source) })}
    deleted={later.sources.deleted(source.name)}
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
