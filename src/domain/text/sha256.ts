export const sha256 = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))

/** Tells texts from each other, in 32 characters. */
export const digestOf = async (text: string): Promise<string> =>
  (await sha256(text)).slice(0, 16).toHex()
