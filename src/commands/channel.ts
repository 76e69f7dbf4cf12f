/* What a network does with a command. */

export interface CommandToSend {
  identifier: string
  format: 'Text' | 'Hex' | 'Base64'
  command: string
  now: number
}

/** The credentials of a source. */
export interface Credentials {
  host?: string | undefined
  apiKey?: string | undefined
  userName?: string | undefined
  password?: string | undefined
  sender?: string | undefined
}

/** One HTTP request to a provider. Its host is fixed by the code. */
export interface ProviderRequest {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body: string | null
}

/** What the provider's response means. */
export interface CommandResult {
  status: 'sent' | 'failed' | 'unknown'
  answer: string
}

export interface Channel {
  /** Whether the source has what is needed to send. */
  hasCredentials: (credentials: Credentials) => boolean
  /** The request, or why the network does not take this command. */
  compose: (
    command: CommandToSend,
    credentials: Credentials,
  ) => { request: ProviderRequest; result: string } | { refused: string }
  read: (status: number, body: string) => CommandResult
}

/** The bytes of a command; null when they are not what the format says. */
export const bytesOf = ({ format, command }: CommandToSend): Uint8Array | null => {
  if (format === 'Text') return new TextEncoder().encode(command)
  try {
    return format === 'Hex'
      ? Uint8Array.fromHex(command.replaceAll(/\s/g, ''))
      : Uint8Array.fromBase64(command)
  } catch {
    return null
  }
}

export const NOT_IN_FORMAT = 'The command is not in the format that it names.'
