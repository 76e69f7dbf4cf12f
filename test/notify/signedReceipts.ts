import { env } from 'cloudflare:workers'

const sign = async (hash: string, secret: string, text: string): Promise<string> => {
  const bytes = new TextEncoder()
  const key = await crypto.subtle.importKey(
    'raw',
    bytes.encode(secret),
    { name: 'HMAC', hash },
    false,
    ['sign'],
  )
  return btoa(
    String.fromCharCode(
      ...new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes.encode(text))),
    ),
  )
}

const SECRET = 'the-webhook-secret-of-the-tests'

/** A receipt as Resend sends it. */
export const resendReceipt = async (
  type: string,
  tags: Record<string, string>,
  { at = Date.now(), secret = SECRET, id = `msg_${crypto.randomUUID()}`, prefix = 'svix' } = {},
) => {
  const body = JSON.stringify({
    type,
    created_at: new Date(at).toISOString(),
    data: { email_id: crypto.randomUUID(), tags },
  })
  const timestamp = String(Math.floor(at / 1000))
  const signature = await sign('SHA-256', secret, `${id}.${timestamp}.${body}`)
  const headers = {
    [`${prefix}-id`]: id,
    [`${prefix}-timestamp`]: timestamp,
    [`${prefix}-signature`]: `v1,${btoa('another')} v1,${signature}`,
  }
  return { body, headers }
}

/** A receipt as Twilio sends it. */
export const twilioReceipt = async (
  path: string,
  form: Record<string, string>,
  token = env.TWILIO_AUTH_TOKEN ?? '',
) => {
  const sorted = Object.keys(form).sort()
  const text = `https://perigee.test${path}${sorted.map((name) => name + form[name]).join('')}`
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'X-Twilio-Signature': await sign('SHA-1', token, text),
  }
  return { body: new URLSearchParams(form).toString(), headers }
}
