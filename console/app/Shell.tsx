import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { onBack } from '../api/connection.ts'
import { live, liveStatus } from '../live/stream.ts'
import { place } from '../router/router.ts'
import { text } from '../text/text.ts'
import { Icon } from '../ui/Icon.tsx'
import { AccountMenu } from './AccountMenu.tsx'
import { isAllowed } from './access.ts'
import { EmergencyBar } from './EmergencyBar.tsx'
import { startEmergencies } from './emergencies.ts'
import { Frame, OfflineNotice } from './Frame.tsx'
import { navigation } from './routes.ts'

const isCurrent = (path: string): boolean => {
  const here = place.value.path
  return path === '/' ? here === '/' || here.startsWith('/map') : here.startsWith(path)
}

const Navigation = () => (
  <nav class="nav" aria-label={text.shell.navigation}>
    {navigation.map(({ label, items }) => {
      const shown = items.filter(isAllowed)
      if (shown.length === 0) return null
      return (
        <div key={label}>
          <p class="nav-label">{label}</p>
          <ul>
            {shown.map(({ path, label, icon }) => (
              <li key={path}>
                <a href={path} aria-current={isCurrent(path) ? 'page' : undefined}>
                  <Icon name={icon} />
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      )
    })}
  </nav>
)

/** What the operator says, and who of its support sees the account: loaded after the first page. */
const StatusNotice = () => {
  const [Notice, setNotice] = useState<ComponentType | null>(null)
  useEffect(() => {
    import('../pages/status/StatusNotice.tsx').then(
      ({ default: notice }) => setNotice(() => notice),
      () => undefined,
    )
  }, [])
  return Notice && <Notice />
}

/** Tried again when the connection is back: without it an emergency makes no sound. */
const loadAlarm = (): Promise<() => void> =>
  import('../alarm/alarm.ts').then(
    ({ startAlarm }) => startAlarm(),
    () =>
      new Promise((resolve) => {
        const stop = onBack(() => {
          stop()
          resolve(loadAlarm())
        })
      }),
  )

/** The menu, the notices that every page has, and the page itself. */
export const Shell = ({ isWide, children }: { isWide: boolean; children: ComponentChildren }) => {
  useEffect(() => {
    const stopEmergencies = startEmergencies()
    const alarm = loadAlarm()
    live.start()
    return () => {
      stopEmergencies()
      void alarm.then((stopAlarm) => stopAlarm())
      live.stop()
    }
  }, [])
  return (
    <Frame
      home="/"
      brand={text.brand}
      isWide={isWide}
      menu={<Navigation />}
      foot={
        <>
          <p class={`stream-state ${liveStatus.value}`} role="status">
            {liveStatus.value === 'live' ? text.shell.live : text.shell.notLive}
          </p>
          <AccountMenu />
        </>
      }
      notices={
        <>
          <EmergencyBar />
          <OfflineNotice />
          <StatusNotice />
        </>
      }
    >
      {children}
    </Frame>
  )
}
