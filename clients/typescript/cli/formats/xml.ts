/* A reader of XML without entities of its own, so that nothing expands. */

export type XmlToken =
  | { type: 'open'; name: string; attributes: Record<string, string> }
  | { type: 'close'; name: string }
  | { type: 'text'; text: string }

const PREDEFINED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g
const ATTRIBUTE = /\s+([^\s=/<>"']+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y
const NAME = /[^\s/<>=&"']+/y

const characterOf = (reference: string, code: number): string =>
  code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)
    ? reference
    : String.fromCodePoint(code)

const decodeText = (text: string): string =>
  text.includes('&')
    ? text.replaceAll(
        REFERENCE,
        (reference: string, name?: string, decimal?: string, hex?: string) => {
          if (name) return PREDEFINED[name] ?? reference
          return characterOf(
            reference,
            decimal ? Number.parseInt(decimal, 10) : Number.parseInt(hex ?? '', 16),
          )
        },
      )
    : text

/** The name without its namespace. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

export class XmlError extends Error {}

/** What stands between `<!` or `<?` and its end, which no track needs, except for text of CDATA. */
const SKIPPED = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
  ['<!', '>'],
] as const

class Reader {
  readonly #text: string
  #at = 0
  readonly #open: string[] = []

  constructor(text: string) {
    this.#text = text
  }

  fail(reason: string): never {
    const line = this.#text.slice(0, this.#at).split('\n').length
    throw new XmlError(`Line ${line}: ${reason}`)
  }

  *read(): Generator<XmlToken> {
    let hasRoot = false
    while (this.#at < this.#text.length) {
      const next = this.#text.indexOf('<', this.#at)
      const end = next === -1 ? this.#text.length : next
      if (end > this.#at && this.#open.length > 0)
        yield { type: 'text', text: decodeText(this.#text.slice(this.#at, end)) }
      this.#at = end
      if (next === -1) break
      const skipped = this.#skip()
      if (skipped !== null) {
        if (skipped !== '') yield { type: 'text', text: skipped }
        continue
      }
      if (this.#text[this.#at + 1] === '/') yield this.#close()
      else {
        if (hasRoot && this.#open.length === 0) this.fail('There is a second root element.')
        hasRoot = true
        yield* this.#openTag()
      }
    }
    const unclosed = this.#open.at(-1)
    if (unclosed !== undefined) this.fail(`The file ends within <${unclosed}>.`)
    if (!hasRoot) this.fail('The file has no XML element.')
  }

  /** Moves past a comment, a declaration or CDATA, and returns its text; null for an element. */
  #skip(): string | null {
    const found = SKIPPED.find(([begin]) => this.#text.startsWith(begin, this.#at))
    if (!found) return null
    const [begin, end] = found
    const from = this.#at + begin.length
    const to = this.#text.indexOf(end, from)
    if (to === -1) this.fail(`${begin} has no end.`)
    const content = this.#text.slice(from, to)
    if (begin === '<!' && content.includes('['))
      this.fail('A DOCTYPE that defines anything is refused.')
    this.#at = to + end.length
    return begin === '<![CDATA[' ? content : ''
  }

  #close(): XmlToken {
    const end = this.#text.indexOf('>', this.#at)
    if (end === -1) this.fail('The file ends within an element.')
    const name = this.#text.slice(this.#at + 2, end).trim()
    const open = this.#open.pop()
    if (open === undefined || open !== name)
      this.fail(`</${name}> does not close <${open ?? 'anything'}>.`)
    this.#at = end + 1
    return { type: 'close', name: localName(name) }
  }

  *#openTag(): Generator<XmlToken> {
    NAME.lastIndex = this.#at + 1
    const name = NAME.exec(this.#text)?.[0]
    if (!name) this.fail('An element has no name.')
    const attributes: Record<string, string> = {}
    let at = NAME.lastIndex
    for (;;) {
      ATTRIBUTE.lastIndex = at
      const [, key, double, single] = ATTRIBUTE.exec(this.#text) ?? []
      if (key === undefined) break
      attributes[localName(key)] = decodeText(double ?? single ?? '')
      at = ATTRIBUTE.lastIndex
    }
    while (/\s/.test(this.#text[at] ?? '')) at++
    const isEmpty = this.#text[at] === '/'
    if (isEmpty) at++
    if (this.#text[at] !== '>') this.fail(`<${name}> is not well-formed.`)
    this.#at = at + 1
    if (!isEmpty) this.#open.push(name)
    yield { type: 'open', name: localName(name), attributes }
    if (isEmpty) yield { type: 'close', name: localName(name) }
  }
}

/** Elements and texts in their order. Throws an `XmlError` for what is not well-formed. */
export const readXml = (text: string): Generator<XmlToken> => new Reader(text).read()
