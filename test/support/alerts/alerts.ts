import type { Caller } from '../accounts.ts'
import type { Reply } from '../http.ts'

export const raiseAlert = (
  account: Caller,
  deviceId: string,
  alert: object = {},
  headers: Record<string, string> = {},
): Promise<Reply> =>
  account.call('POST', `/api/devices/${deviceId}/alerts`, {
    body: { alertName: 'LowBattery', ...alert },
    headers,
  })

export const readAlert = async (account: Caller, id: string) =>
  (await account.call('GET', `/api/alerts/${id}`)).body.alert

/** The deliveries of an alert as `channel status`. */
export const deliveryStatusesIn = (reply: Reply): string[] =>
  reply.body.alert.deliveries.map(
    ({ channel, status }: { channel: string; status: string }) => `${channel} ${status}`,
  )
