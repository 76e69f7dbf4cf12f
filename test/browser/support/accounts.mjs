import { base } from './browser.mjs'

/* Accounts of the tests, through the API that everybody uses. */

const send = async (method, path, { body, token } = {}) => {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      'Content-Type': 'application/json',
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const reply = await response.json()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${reply.error}`)
  return reply
}

export class TestAccount {
  static async open({ licenses, name = 'Test Shipping' }) {
    const userName = `test-${Date.now().toString(36)}-${Math.floor(Math.random() * 1e6)}`
    const body = { userName, name, licenses, timeZone: 'UTC' }
    const { apiKey } = await send('POST', '/admin/accounts', {
      body,
      token: process.env.ADMIN_TOKEN,
    })
    const { token } = await send('POST', '/api/Auth/Token', { body: { userName, apiKey } })
    return Object.assign(new TestAccount(), { userName, apiKey, token })
  }

  /** A token for another key of the account; throws when the key is refused. */
  async getToken(apiKey) {
    const body = { userName: this.userName, apiKey }
    return (await send('POST', '/api/Auth/Token', { body })).token
  }

  call(method, path, body) {
    return send(method, path, { body, token: this.token })
  }

  async addDevice(device, location) {
    const { device: made } = await this.call('POST', '/api/devices', device)
    if (location) await this.report(made.id, location)
    return made
  }

  report(deviceId, location) {
    const body = { location: { dateTime: new Date().toISOString(), ...location } }
    return this.call('POST', `/api/devices/${deviceId}/locations`, body)
  }
}
