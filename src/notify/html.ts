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

/** Only links that we make ourselves become links: what stands in a name or text stays text. */
const LINK = new RegExp(`${RegExp.escape(escapeHtml(MAP))}[\\w.&;=#/-]+`, 'g')

/** The same words as the text, for mail programs that show HTML. */
export const asHtml = (text: string): string => {
  const lines = escapeHtml(text).replaceAll(LINK, (link) => `<a href="${link}">${link}</a>`)
  return `<!doctype html><html><body><p style="font:15px/1.5 sans-serif;white-space:pre-wrap">${lines}</p></body></html>`
}
