import { PROBLEMS, type ProblemCode } from '../http/problem.ts'

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:4rem auto;padding:0 1.5rem;color-scheme:light dark}code{font-size:.9em}small{opacity:.7}'

const page = (title: string, content: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} · Perigee</title><style>${STYLE}</style>${content}</html>`

/** The registry's texts hold backticks and nothing of HTML's. */
const prose = (text: string): string =>
  text.replaceAll('<', '&lt;').replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const isCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code)

export const problemPage = (code: string): string | null => {
  if (!isCode(code)) return null
  const { status, title, detail, remedy } = PROBLEMS[code]
  return page(
    title,
    `<small>${status} · <code>${code}</code></small><h1>${title}</h1><p>${prose(detail)}</p><p>${prose(remedy)}</p><p><a href="/problems">All problems</a> · <a href="/docs">API reference</a></p>`,
  )
}

export const problemIndex = (): string => {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => `<li>${status} <a href="/problems/${code}">${title}</a></li>`,
  )
  return page(
    'Problems',
    `<h1>Problems</h1><p>Every failure of the API is one of these.</p><ul>${rows.join('')}</ul>`,
  )
}
