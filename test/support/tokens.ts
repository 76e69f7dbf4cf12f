const encode = (value: unknown): string =>
  new TextEncoder()
    .encode(JSON.stringify(value))
    .toBase64({ alphabet: 'base64url', omitPadding: true })

const decode = (part: string): Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(part, { alphabet: 'base64url' })))

/** The parts of a token; its signature is not checked. */
export const readToken = (
  token: string,
): { header: Record<string, unknown>; claims: Record<string, unknown> } => {
  const [header = '', claims = ''] = token.split('.')
  return { header: decode(header), claims: decode(claims) }
}

/** Makes a token without any code of the service. */
export const makeToken = async (
  header: object,
  claims: object,
  secret: string,
  hash = 'SHA-256',
): Promise<string> => {
  const text = `${encode(header)}.${encode(claims)}`
  const key = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(secret),
    { name: 'HMAC', hash },
    false,
    ['sign'],
  )
  const signature = new Uint8Array(
    await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(text)),
  )
  return `${text}.${signature.toBase64({ alphabet: 'base64url', omitPadding: true })}`
}

/** The `kid` of a signing secret. */
export const kidOf = async (secret: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret)))
    .subarray(0, 6)
    .toHex()

/** Tokens that resemble a valid one and must be refused; tokens.test.ts has more. */
export const badTokens = async (good: string, secret: string): Promise<Record<string, string>> => {
  const { header, claims } = readToken(good)
  const [head = '', body = '', signature = ''] = good.split('.')
  const otherSecret = 'a-secret-that-this-service-does-not-use'
  const sign = (changed: object, changedHeader: object = header) =>
    makeToken(changedHeader, changed, secret)
  const past = Math.floor(Date.now() / 1000) - 31
  return {
    'that expired 31 s ago': await sign({ ...claims, iat: past - 60, exp: past }),
    'forged with another secret': await makeToken(header, claims, otherSecret),
    'with alg none and no signature': `${encode({ ...header, alg: 'none' })}.${body}.`,
    'with alg HS512': await makeToken({ ...header, alg: 'HS512' }, claims, secret, 'SHA-512'),
    'that says RS256': await sign(claims, { ...header, alg: 'RS256' }),
    'for another audience': await sign({ ...claims, aud: 'another-api' }),
    'of another issuer': await sign({ ...claims, iss: 'another' }),
    'with changed claims and the old signature': `${head}.${encode({ ...claims, scope: 'admin', jti: 'x' })}.${signature}`,
  }
}
