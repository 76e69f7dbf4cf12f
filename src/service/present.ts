import { fullCellBytes } from '../domain/account/cell.ts'
import { isSweepOnTime } from '../domain/admin/health.ts'
import { isoOrNull } from '../domain/time/iso.ts'
import { PROBLEMS, type ProblemCode } from '../http/contract/problem.ts'

interface Checked {
  cells: number[]
  /** By the number of the cell. */
  sizes: Map<number, number | null>
  maxBytes: number
  lastSweep: number | null
  now: number
}

export const presentHealth = ({ cells, sizes, maxBytes, lastSweep, now }: Checked) => {
  const shown = cells.map((cell) => {
    const sizeBytes = sizes.get(cell) ?? null
    return { cell, sizeBytes, full: (sizeBytes ?? 0) >= fullCellBytes(maxBytes) }
  })
  const sweepOnTime = isSweepOnTime(lastSweep, now)
  const isDegraded = !sweepOnTime || shown.some(({ full }) => full)
  const status = isDegraded ? ('degraded' as const) : ('ok' as const)
  return {
    success: true as const,
    status,
    lastSweep: isoOrNull(lastSweep),
    sweepOnTime,
    cells: shown,
  }
}

const STYLE = `
  body { font: 16px/1.6 system-ui, sans-serif; color-scheme: light dark;
    max-width: 42rem; margin: 4rem auto; padding: 0 1.5rem }
  code { font-size: .9em }
  small { opacity: .7 }`

const page = (title: string, content: string): string => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} · Perigee</title>
<style>${STYLE}</style>
${content}
</html>`

/** The texts of the registry have backticks and `<`, and no other HTML syntax. */
const toHtml = (text: string): string =>
  text.replaceAll('<', '&lt;').replaceAll(/`([^`]+)`/g, '<code>$1</code>')

const isCode = (code: string): code is ProblemCode => Object.hasOwn(PROBLEMS, code)

/** The page of one problem; null for an unknown code. */
export const presentProblem = (code: string): string | null => {
  if (!isCode(code)) return null
  const { status, title, detail, remedy } = PROBLEMS[code]
  return page(
    title,
    `<small>${status} · <code>${code}</code></small>
<h1>${title}</h1>
<p>${toHtml(detail)}</p>
<p>${toHtml(remedy)}</p>
<p><a href="/problems">All problems</a> · <a href="/docs">API reference</a></p>`,
  )
}

export const presentProblemIndex = (): string => {
  const rows = Object.entries(PROBLEMS).map(
    ([code, { status, title }]) => `<li>${status} <a href="/problems/${code}">${title}</a></li>`,
  )
  return page(
    'Problems',
    `<h1>Problems</h1>
<p>Every error reply of the API has one of these codes.</p>
<ul>${rows.join('')}</ul>`,
  )
}
