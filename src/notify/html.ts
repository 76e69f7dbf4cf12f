import { escapeHtml } from '../domain/html.ts'
import { MAP } from '../domain/place.ts'

/** Only our own map links become links: a URL in a name or a text stays text. */
const MAP_LINK = new RegExp(`${RegExp.escape(escapeHtml(MAP))}[\\w.&;=#/-]+`, 'g')
/** The link of the message has a line of its own, as no text of a user has. */
const ALERT_LINK = /^https?:\/\/[\w.:[\]-]+\/a\/[0-9a-z]{16}$/gm

const toAnchor = (link: string): string => `<a href="${link}">${link}</a>`

/** The text as HTML, with its own links clickable. */
export const toHtml = (text: string): string => {
  const lines = escapeHtml(text).replaceAll(MAP_LINK, toAnchor).replaceAll(ALERT_LINK, toAnchor)
  return `<!doctype html><html><body><p style="font:15px/1.5 sans-serif;white-space:pre-wrap">${lines}</p></body></html>`
}
