const encode = (value: unknown): string =>
  new TextEncoder()
    .encode(JSON.stringify(value))
    .toBase64({ alphabet: 'base64url', omitPadding: true })

const decode = (part: string): Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(part, { alphabet: 'base64url' })))

/** A token taken apart, without a look at its signature. */
export const readToken = (
  token: string,
): { header: Record<string, unknown>; claims: Record<string, unknown> } => {
  const [header = '', claims = ''] = token.split('.')
  return { header: decode(header), claims: decode(claims) }
}

/** A token put together by hand, by none of the code that it is to get past. */
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

/** The name under which a signing secret goes. */
export const kidOf = async (secret: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret)))
    .subarray(0, 6)
    .toHex()

/** Tokens that look like the good one and must not get in; tokens.test.ts knows more of them. */
export const badTokens = async (good: string, secret: string): Promise<Record<string, string>> => {
  const { header, claims } = readToken(good)
  const [head = '', body = '', signature = ''] = good.split('.')
  const stranger = 'a-secret-that-this-service-has-never-seen'
  const signed = (changed: object, of: object = header) => makeToken(of, changed, secret)
  const past = Math.floor(Date.now() / 1000) - 31
  return {
    'that expired 31 s ago': await signed({ ...claims, iat: past - 60, exp: past }),
    'forged with another secret': await makeToken(header, claims, stranger),
    'with alg none and no signature': `${encode({ ...header, alg: 'none' })}.${body}.`,
    'with alg HS512': await makeToken({ ...header, alg: 'HS512' }, claims, secret, 'SHA-512'),
    'that says RS256': await signed(claims, { ...header, alg: 'RS256' }),
    'for another audience': await signed({ ...claims, aud: 'another-api' }),
    'of another issuer': await signed({ ...claims, iss: 'another' }),
    'with changed claims and the old signature': `${head}.${encode({ ...claims, scope: 'admin', jti: 'x' })}.${signature}`,
  }
}
