import { MAP } from '../domain/geo/place.ts'
import { escapeHtml } from '../domain/text/html.ts'

/** Only our own map links become links: a URL in a name or a text stays text. */
const MAP_LINK = new RegExp(`${RegExp.escape(escapeHtml(MAP))}[\\w.&;=#/-]+`, 'g')
/** The link of the message has a line of its own, as no text of a user has. */
const ALERT_LINK = /^https?:\/\/[\w.:[\]-]+\/a\/[0-9a-z]{16}$/gm

/** A password link is alone on its line, where no name and no text of a user can be. */
const PASSWORD_LINK = /^https?:\/\/[\w.:[\]-]+\/password#[\w.-]+$/gm

const toAnchor = (link: string): string => `<a href="${link}">${link}</a>`

/** The text as HTML, with its own links clickable. */
export const toHtml = (text: string): string => {
  const lines = [MAP_LINK, ALERT_LINK, PASSWORD_LINK].reduce(
    (html, link) => html.replaceAll(link, toAnchor),
    escapeHtml(text),
  )
  return `<!doctype html><html><body><p style="font:15px/1.5 sans-serif;white-space:pre-wrap">${lines}</p></body></html>`
}
