import { MAP } from './place.ts'

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')

/** Only our own map links become links: a URL in a name or a text stays text. */
const LINK = new RegExp(`${RegExp.escape(escapeHtml(MAP))}[\\w.&;=#/-]+`, 'g')

/** A password link is alone on its line, where no name and no text of a user can be. */
const PASSWORD_LINK = /^https?:\/\/[\w.:[\]-]+\/password#[\w.-]+$/gm

/** The text as HTML, with its map and password links clickable. */
export const toHtml = (text: string): string => {
  const toAnchor = (link: string) => `<a href="${link}">${link}</a>`
  const lines = escapeHtml(text).replaceAll(LINK, toAnchor).replaceAll(PASSWORD_LINK, toAnchor)
  return `<!doctype html><html><body><p style="font:15px/1.5 sans-serif;white-space:pre-wrap">${lines}</p></body></html>`
}
