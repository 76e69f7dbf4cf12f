import { alarmText } from '../text/alarm.ts'

/* What the tab shows of open emergencies when it is not the one in front. */

const ICONS = { calm: '/favicon.svg', emergency: '/favicon-emergency.svg' }

let prefix = ''

/** Pages set the title without the prefix, so it is put before theirs again. */
const applyPrefix = (next: string): void => {
  const { title } = document
  const bare = prefix && title.startsWith(prefix) ? title.slice(prefix.length) : title
  prefix = next
  if (document.title !== prefix + bare) document.title = prefix + bare
}

export const showInTab = (count: number): void => {
  applyPrefix(count > 0 ? `${alarmText.inTitle(count)} · ` : '')
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  const icon = count > 0 ? ICONS.emergency : ICONS.calm
  if (link && link.getAttribute('href') !== icon) link.setAttribute('href', icon)
}

/** Keeps the prefix while pages change the title. */
export const followTitle = (): (() => void) => {
  const observer = new MutationObserver(() => applyPrefix(prefix))
  observer.observe(document.head, { childList: true, subtree: true, characterData: true })
  return () => {
    observer.disconnect()
    showInTab(0)
  }
}
