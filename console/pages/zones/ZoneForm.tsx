import { useEffect, useRef, useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Zone } from '../../api/types.ts'
import { canEditRules, replacePatch } from '../../api/zonesAndRules.ts'
import { useReloadWhenBack } from '../../app/reloadWhenBack.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { Button } from '../../ui/Button.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { TextArea, TextField } from '../../ui/form/fields.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { toast } from '../../ui/toast.tsx'
import type { PlainMap } from '../map/PlainMap.ts'
import { DeleteZone } from './DeleteZone.tsx'
import { ShapeFields } from './ShapeFields.tsx'
import type { Shape } from './shape.ts'
import { EMPTY_SHAPE, parseShape, type TypedShape, typedOf } from './typedShape.ts'
import type { DrawMode, ZoneEditor } from './ZoneEditor.ts'

const DEFAULT_COLOR = '#2563eb'

interface ZoneFormProps {
  zone: Zone | null
  map: PlainMap | null
  onStored: (zone: Zone) => void
  onDeleted: (zone: Zone) => void
}

interface ZoneDraft {
  name: string
  description: string
  color: string
  shape: TypedShape
}

const draftOf = (zone: Zone | null): ZoneDraft => ({
  name: zone?.name ?? '',
  description: zone?.description ?? '',
  color: zone?.color ?? DEFAULT_COLOR,
  shape: zone ? typedOf(zone.shape as Shape) : EMPTY_SHAPE,
})

/** Shows the draft on the map and takes what is drawn there. */
const useEditor = (map: PlainMap | null, draft: ZoneDraft, onShape: (shape: Shape) => void) => {
  const [editor, setEditor] = useState<ZoneEditor | null>(null)
  const [drawing, setDrawing] = useState<{ mode: DrawMode; corners: number }>({
    mode: null,
    corners: 0,
  })
  const [hasFailed, setHasFailed] = useState(false)
  useReloadWhenBack(hasFailed)
  const newest = useRef(onShape)
  newest.current = onShape
  useEffect(() => {
    if (!map || !canEditRules()) return
    let opened: ZoneEditor | null = null
    let isGone = false
    import('./ZoneEditor.ts').then(
      ({ ZoneEditor }) => {
        if (isGone) return
        opened = new ZoneEditor(map, {
          onShape: (shape) => newest.current(shape),
          onDrawing: (mode, corners) => setDrawing({ mode, corners }),
        })
        setEditor(opened)
      },
      () => setHasFailed(true),
    )
    return () => {
      isGone = true
      setEditor(null)
      opened?.close()
    }
  }, [map])
  const { color, shape } = draft
  useEffect(() => {
    const parsed = parseShape(shape)
    editor?.show('shape' in parsed ? parsed.shape : null, color)
  }, [editor, color, shape])
  return { editor, drawing }
}

const Drawing = ({
  editor,
  drawing,
  kind,
  hasShape,
}: ReturnType<typeof useEditor> & { kind: TypedShape['kind']; hasShape: boolean }) => {
  const { mode, corners } = drawing
  const hint =
    mode === 'Polygon'
      ? text.zones.drawPolygon
      : mode === 'Circle'
        ? text.zones.drawCircle
        : hasShape
          ? text.zones.editHint
          : null
  return (
    <div class="stack">
      <div class="actions">
        {mode === null && kind !== 'GeoJSON' && (
          <Button
            size="small"
            icon="edit"
            disabled={!editor}
            onClick={() => editor?.start(kind as DrawMode)}
          >
            {hasShape ? text.zones.drawAgain : text.zones.draw}
          </Button>
        )}
        {mode === 'Polygon' && corners > 2 && (
          <Button size="small" kind="primary" icon="check" onClick={() => editor?.finish()}>
            {text.zones.closePolygon}
          </Button>
        )}
        {mode !== null && (
          <Button size="small" icon="close" onClick={() => editor?.start(null)}>
            {text.zones.stopDrawing}
          </Button>
        )}
      </div>
      <p class="hint" role="status">
        {hint}
      </p>
    </div>
  )
}

export const ZoneForm = ({ zone, map, onStored, onDeleted }: ZoneFormProps) => {
  const { draft, change, changes } = useDraft(() => draftOf(zone))
  const [isChecked, setIsChecked] = useState(false)
  const parsed = parseShape(draft.shape)
  const tools = useEditor(map, draft, (shape) => change({ shape: typedOf(shape) }))
  const save = useAction(async () => {
    if (!('shape' in parsed)) return
    const { shape } = parsed
    if (zone) {
      const changed = { ...changes, ...('shape' in changes && { shape }) }
      const params = { zoneId: zone.id }
      const body = replacePatch(changed)
      onStored((await call('PATCH /api/zones/{zoneId}', { params, body })).zone)
    } else onStored((await call('POST /api/zones', { body: { ...draft, shape } })).zone)
    setLeaveGuard(null)
    toast(text.common.saved)
    navigate('/zones')
  })
  const submit = () => {
    setIsChecked(true)
    if ('shape' in parsed) void save.run()
  }
  const { error } = save
  const isReadOnly = !canEditRules()
  const bind = bindFields({ draft, change, error, disabled: isReadOnly })
  return (
    <div class="stack">
      <header>
        <a class="parent" href="/zones">
          <Icon name="back" size={14} />
          {text.zones.title}
        </a>
        <h1 tabIndex={-1}>{zone?.name ?? text.zones.add}</h1>
      </header>
      <Form
        submitLabel={zone ? text.common.save : text.zones.create}
        cancelHref="/zones"
        onSubmit={submit}
        action={save}
        isReadOnly={isReadOnly}
        actions={zone && <DeleteZone zone={zone} onDeleted={onDeleted} />}
      >
        <TextField
          label={text.zones.name}
          {...bind.text('name')}
          maxLength={200}
          required
          autofocus={!zone}
        />
        <TextArea
          label={text.zones.description}
          {...bind.text('description')}
          maxLength={2000}
          rows={2}
          isOptional
        />
        <TextField label={text.zones.color} type="color" {...bind.text('color')} />
        <ShapeFields
          typed={draft.shape}
          onChange={(shape) => change({ shape })}
          fault={isChecked && 'fault' in parsed ? parsed : null}
          error={error}
          isReadOnly={isReadOnly}
        />
        {!isReadOnly && <Drawing {...tools} kind={draft.shape.kind} hasShape={'shape' in parsed} />}
      </Form>
      {zone && <WhoChanged key={zone.id} id={zone.id} />}
    </div>
  )
}
