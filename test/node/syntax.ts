import { readFileSync } from 'node:fs'
import { parseAst } from 'vitest/node'

export interface SyntaxNode {
  type: string
  start: number
  [member: string]: unknown
}

/** A node with its ancestors, linked. */
export interface Visited {
  node: SyntaxNode
  parent: Visited | null
}

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === 'object' && value !== null && typeof (value as SyntaxNode).type === 'string'

const visitAll = (node: SyntaxNode, parent: Visited | null, visited: Visited[]): Visited[] => {
  const visit = { node, parent }
  visited.push(visit)
  for (const member of Object.values(node))
    for (const child of Array.isArray(member) ? member : [member])
      if (isNode(child)) visitAll(child, visit, visited)
  return visited
}

export interface SourceFile {
  path: string
  text: string
  nodes: Visited[]
}

/** A file of `src/`, parsed. */
export const parseSource = (path: string): SourceFile => {
  const text = readFileSync(`src/${path}`, 'utf8')
  const tree = parseAst(text, { lang: 'ts' }) as unknown as SyntaxNode
  return { path, text, nodes: visitAll(tree, null, []) }
}

/** `path:line` of every node that matches. */
export const findNodes = (
  { path, text, nodes }: SourceFile,
  matches: (visited: Visited) => boolean,
): string[] =>
  nodes.filter(matches).map(({ node }) => `${path}:${text.slice(0, node.start).split('\n').length}`)

const nameOf = (node: unknown): string =>
  isNode(node) && node.type === 'Identifier' ? String(node.name) : '?'

/** `c.json` for the call `c.json(…)`; `?` stands for what is not a plain name. */
export const calledMethod = ({ type, callee }: SyntaxNode): string | null =>
  type === 'CallExpression' && isNode(callee) && callee.type === 'MemberExpression'
    ? `${nameOf(callee.object)}.${nameOf(callee.property)}`
    : null

/** Whether a node is inside the value of an object member `name`. */
export const isInMember = ({ node, parent }: Visited, name: string): boolean =>
  (node.type === 'Property' && nameOf(node.key) === name) ||
  (parent !== null && isInMember(parent, name))
