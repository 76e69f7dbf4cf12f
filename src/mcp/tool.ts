import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server'
import type * as z from 'zod'
import { allows, type Scope } from '../domain/account/scope.ts'
import { Problem } from '../http/contract/problem.ts'
import { type Api, ApiRefusal } from './api.ts'

/** What a tool does beyond reading, for the agent's own rules. */
interface Effect {
  /** Whether something is lost or cannot be taken back. */
  isDestructive: boolean
  /** Whether a repeat changes nothing more. */
  isIdempotent: boolean
  /** Whether it reaches somebody outside the service. */
  isOutside?: boolean
}

export interface Result {
  /** What was found or done, in a sentence. */
  summary: string
  /** Single values beside the rows. */
  data?: object
  rows?: object[]
  nextCursor?: string | null
  /** Whether the last rows matter most, where not all fit. */
  keepsEnd?: boolean
}

export interface Tool {
  name: string
  title: string
  description: string
  scope: Scope
  input: z.ZodObject
  effect?: Effect
  run: (api: Api, input: never) => Promise<Result>
}

/** Makes a tool whose `run` takes what its `input` schema gives. */
export const defineTool = <I extends z.ZodObject>(
  tool: Omit<Tool, 'input' | 'run'> & {
    input: I
    run: (api: Api, input: z.output<I>) => Promise<Result>
  },
): Tool => tool as unknown as Tool

/** A refusal that the agent can act on. */
export class ToolError extends Error {}

/** Enough for 50 rows, and little enough for a model's context. */
const MAX_RESULT_BYTES = 32_768
const encoder = new TextEncoder()
const sizeOf = (text: string): number => encoder.encode(text).byteLength

const toText = ({ summary, data, rows, nextCursor }: Result): string => {
  const body = { ...data, ...(rows && { rows }), ...(nextCursor && { nextCursor }) }
  return Object.keys(body).length > 0 ? `${summary}\n${JSON.stringify(body)}` : summary
}

/** The result as text of bounded length. Rows that do not fit are left out, and it says so. */
export const boundedText = (result: Result): string => {
  const whole = toText(result)
  if (sizeOf(whole) <= MAX_RESULT_BYTES) return whole
  const { rows: all = [], keepsEnd = false } = result
  for (let kept = all.length; kept > 0; ) {
    kept >>= 1
    const rows = keepsEnd ? all.slice(all.length - kept) : all.slice(0, kept)
    const which = `${keepsEnd ? 'first' : 'last'} ${all.length - kept}`
    const summary = `${result.summary} The ${which} rows are left out, because the result is too long: ask for fewer with limit.`
    const text = toText({ ...result, summary, rows, nextCursor: null })
    if (sizeOf(text) <= MAX_RESULT_BYTES) return text
  }
  return `${result.summary} The result is too long to be shown: ask for less, with a smaller limit, a shorter span of time or a single device.`
}

/** The first line of each result of a sandbox. */
const SANDBOX =
  'This account is a sandbox: its devices are simulated, and no message or command reaches anybody.'

const refused = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
})

const faultsOf = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'Arguments'}: ${message}.`).join(' ')

interface Caller {
  scopes: readonly Scope[]
  api: Api
  /** Whether the account of the caller is one. */
  isSandbox: () => Promise<boolean>
}

export const callTool = async (
  tool: Tool | undefined,
  given: { name: string; arguments?: unknown },
  { scopes, api, isSandbox }: Caller,
): Promise<CallToolResult> => {
  if (!tool)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'There is no tool with this name.')
  if (!allows(scopes, tool.scope))
    return refused(`The token does not have the scope ${tool.scope}. Nothing was done.`)
  const input = tool.input.safeParse(given.arguments ?? {})
  if (!input.success) return refused(`Nothing was done. ${faultsOf(input.error)}`)
  try {
    const isMarked = await isSandbox()
    const result = await tool.run(api, input.data as never)
    const text = boundedText(result)
    return { content: [{ type: 'text', text: isMarked ? `${SANDBOX}\n${text}` : text }] }
  } catch (error) {
    if (error instanceof ApiRefusal || error instanceof ToolError) return refused(error.message)
    if (error instanceof Problem && error.code === 'unavailable')
      return refused('The service is busy. Nothing was done; try again in a few seconds.')
    // The text of other errors is for nobody outside.
    throw new ProtocolError(ProtocolErrorCode.InternalError, 'The service failed to run the tool.')
  }
}
