import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Source } from '../../api/types.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { DeleteButton } from '../../ui/dialog/DeleteButton.tsx'
import { Confirm } from '../../ui/dialog/Dialog.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { Address } from './Address.tsx'

interface ActionProps {
  source: Source
}

const paramsOf = ({ id }: Source) => ({ sourceId: id })

const Rotate = ({ source }: ActionProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const [made, setMade] = useState<{ url: string | null } | null>(null)
  const rotate = useAction(async () => {
    setMade(await call('POST /api/sources/{sourceId}/rotate', { params: paramsOf(source) }))
    setIsAsking(false)
  })
  return (
    <>
      <Button icon="key" onClick={() => setIsAsking(true)}>
        {text.sources.rotate}
      </Button>
      {isAsking && (
        <Confirm
          title={text.sources.rotateTitle(source.name)}
          confirmLabel={text.sources.rotate}
          onConfirm={() => rotate.run()}
          onClose={() => setIsAsking(false)}
          isPending={rotate.isPending}
          error={rotate.error}
        >
          <p>{text.sources.rotateQuestion}</p>
        </Confirm>
      )}
      {made && <Address source={source} url={made.url} onClose={() => setMade(null)} />}
    </>
  )
}

const Enable = ({ source, onDone }: ActionProps & { onDone: (next: Source) => void }) => {
  const set = useAction(async () => {
    const { source: next } = await call('PATCH /api/sources/{sourceId}', {
      params: paramsOf(source),
      body: { enabled: !source.enabled },
    })
    onDone(next)
    toast(next.enabled ? text.sources.enabledToast : text.sources.disabledToast)
  })
  const icon = source.enabled ? 'pause' : 'check'
  return (
    <>
      <Button icon={icon} isPending={set.isPending} onClick={() => set.run()}>
        {source.enabled ? text.sources.disable : text.sources.enable}
      </Button>
      {set.error && <Refusal error={set.error} />}
    </>
  )
}

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
