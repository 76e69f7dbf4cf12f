import { useRef } from 'preact/hooks'
import { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { call, callForResponse } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Zone, ZoneImport } from '../../api/types.ts'
import { canEditRules } from '../../api/zonesAndRules.ts'
import { formatDistance, formatNumber } from '../../format/units.ts'
import { text } from '../../text/text.ts'
import { Button, LinkButton } from '../../ui/Button.tsx'
import { saveFile } from '../../ui/download.ts'
import { Empty, Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import type { PlainMap } from '../map/PlainMap.ts'
import { countCorners, type Shape } from './shape.ts'

const MAX_FILE_BYTES = 1024 * 1024

interface ZoneListProps {
  zones: readonly Zone[]
  onChange: () => void
  map: PlainMap | null
}

const describeShape = (shape: Shape): string => {
  if (shape.type === 'Circle')
    return text.zones.circleOf(
      shape.radius < 1000 ? `${formatNumber(shape.radius)} m` : formatDistance(shape.radius),
    )
  const parts = shape.type === 'Polygon' ? 1 : shape.coordinates.length
  const corners = countCorners(shape)
  return parts === 1 ? text.zones.polygonOf(corners) : text.zones.partsOf(parts, corners)
}

const readCollection = async (file: File): Promise<ZoneImport> => {
  if (file.size > MAX_FILE_BYTES) throw new PerigeeError(text.zones.tooLarge, { status: -1 })
  try {
    const read: unknown = JSON.parse(await file.text())
    if (read && typeof read === 'object' && !Array.isArray(read)) return read as ZoneImport
  } catch {
    // Refused below.
  }
  throw new PerigeeError(text.zones.notJson, { status: -1 })
}

/** "Feature 3 (Harbour)" for a pointer into the file. */
const featureAt = (pointer: string, names: readonly (string | null)[]): string => {
  const index = Number(/^\/features\/(\d+)/.exec(pointer)?.[1] ?? Number.NaN)
  return Number.isNaN(index) ? pointer : text.zones.feature(index + 1, names[index] ?? null)
}

const ImportRefusal = ({
  error,
  names,
}: {
  error: PerigeeError
  names: readonly (string | null)[]
}) => {
  const errors = error.problem?.errors ?? []
  return (
    <Refusal error={error}>
      <b>{text.zones.importTitle}.</b> {errors.length === 0 && error.message}
      {errors.map(({ pointer, detail }) => (
        <span key={pointer} class="import-fault">
          {featureAt(pointer, names)} {detail}.
        </span>
      ))}
    </Refusal>
  )
}

const ImportExport = ({ onChange, canExport }: { onChange: () => void; canExport: boolean }) => {
  const input = useRef<HTMLInputElement>(null)
  const names = useRef<(string | null)[]>([])
  const importFile = useAction(async (file: File) => {
    const body = await readCollection(file)
    const features = Array.isArray(body.features) ? body.features : []
    names.current = features.map((feature) => {
      const name = feature?.properties?.name
      return typeof name === 'string' ? name : null
    })
    const { zones } = await call('POST /api/zones.geojson', { body })
    toast(text.zones.imported(zones.length))
    onChange()
  })
  const exportAll = useAction(async () =>
    saveFile(await callForResponse('GET /api/zones.geojson'), text.zones.fileName),
  )
  return (
    <>
      <div class="actions">
        {canEditRules() && (
          <>
            <Button
              size="small"
              icon="upload"
              isPending={importFile.isPending}
              onClick={() => input.current?.click()}
            >
              {text.zones.import}
            </Button>
            <input
              ref={input}
              type="file"
              class="visually-hidden"
              tabIndex={-1}
              aria-label={text.zones.import}
              accept=".geojson,.json,application/geo+json,application/json"
              onChange={({ currentTarget }) => {
                const [file] = currentTarget.files ?? []
                if (file) void importFile.run(file)
                // The same file may be chosen again after it was repaired.
                currentTarget.value = ''
              }}
            />
          </>
        )}
        <Button
          size="small"
          icon="download"
          disabled={!canExport}
          isPending={exportAll.isPending}
          onClick={() => exportAll.run()}
        >
          {text.zones.export}
        </Button>
      </div>
      {importFile.error && <ImportRefusal error={importFile.error} names={names.current} />}
      {exportAll.error && <Refusal error={exportAll.error} />}
    </>
  )
}

export const ZoneList = ({ zones, onChange, map }: ZoneListProps) => {
  const add = canEditRules() && (
    <LinkButton kind="primary" size="small" icon="plus" href="/zones/new">
      {text.zones.add}
    </LinkButton>
  )
  return (
    <div class="stack">
      <header>
        <h1 tabIndex={-1}>{text.zones.title}</h1>
        <p class="muted">{text.zones.lead}</p>
      </header>
      <div class="actions">{zones.length > 0 && add}</div>
      <ImportExport onChange={onChange} canExport={zones.length > 0} />
      {zones.length === 0 ? (
        <Empty icon="zone" title={text.zones.emptyTitle} action={add}>
          {text.zones.empty}
        </Empty>
      ) : (
        <ul class="zone-list" aria-label={text.zones.title}>
          {zones.map(({ id, name, color, shape }) => (
            <li key={id}>
              <a
                href={`/zones/${id}`}
                onMouseEnter={() => map?.setZones(zones, id)}
                onMouseLeave={() => map?.setZones(zones)}
              >
                <span class="swatch" style={{ background: color }} />
                <span class="two-lines">
                  <b>{name}</b>
                  <span class="muted">{describeShape(shape as Shape)}</span>
                </span>
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
