import { useState } from 'preact/hooks'
import type { Source } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { CodeLine } from '../../../ui/dialog/ShownOnce.tsx'
import { Choices } from '../../../ui/form/Choices.tsx'
import { TextField } from '../../../ui/form/fields.tsx'
import { Icon } from '../../../ui/Icon.tsx'
import { QrCode } from '../../../ui/QrCode.tsx'
import { appsOf, type SpeedUnit, templateOf } from './templates.ts'

interface AppSetupProps {
  source: Source
  /** Null where the address is not known: it is shown once. */
  url: string | null
}

/** What to enter in the app of a phone, to copy or to scan. */
export const AppSetup = ({ source, url }: AppSetupProps) => {
  const apps = appsOf(source.provider)
  const unit = source.settings.speedUnit ?? 'kn'
  const [chosen, setChosen] = useState(
    () => (apps.find(({ speedUnit }) => speedUnit === unit) ?? apps[0])?.name,
  )
  const [id, setId] = useState('my-phone')
  const app = apps.find(({ name }) => name === chosen)
  if (!app) return null
  const about = later.apps[app.name]
  const value = `${url ?? ''}${templateOf(app, id)}`
  return (
    <div class="stack app-setup">
      {apps.length > 1 && (
        <Choices
          label={later.sources.app}
          value={app.name}
          choices={apps.map(({ name }) => ({ value: name, label: later.apps[name].name }))}
          onChange={setChosen}
        />
      )}
      {about.where && <p>{about.where}</p>}
      {app.query && (
        <TextField
          label={later.sources.phoneId}
          hint={later.sources.phoneIdHint}
          value={id}
          onInput={setId}
          maxLength={64}
          isCode
        />
      )}
      {app.speedUnit && app.speedUnit !== unit && (
        <p class="note" role="status">
          <Icon name="warning" />
          <span>
            {later.sources.wrongUnit(
              about.name,
              later.sources.unitNames[app.speedUnit],
              later.sources.unitNames[unit as SpeedUnit],
            )}
          </span>
        </p>
      )}
      {value && (
        <CodeLine
          label={url ? later.sources.enterThis : later.sources.afterAddress}
          value={value}
        />
      )}
      {url ? (
        <QrCode value={value} label={later.sources.qrCode(about.name)} />
      ) : (
        <p class="hint">{later.sources.qrWithAddress}</p>
      )}
    </div>
  )
}
