import { call } from '../../api/client.ts'
import type { Alert } from '../../api/types.ts'
import { place } from '../../router/router.ts'

/* Which alerts the page shows. The address of the page has the choice. */

const STATES = ['open', 'acknowledged', 'resolved', 'cancelled'] as const
export type Show = (typeof STATES)[number] | 'all'
export const SHOWS: readonly Show[] = [...STATES, 'all']
const PAGE_SIZE = 50

/** The address can say anything; only a date counts. */
const dayOf = (text: string | null): string =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : ''

export const readFilters = () => {
  const { query } = place.value
  const given = query.get('show') as Show
  return {
    show: SHOWS.includes(given) ? given : 'open',
    isEmergency: query.get('emergency') === 'true',
    alertName: query.get('name') ?? '',
    device: query.get('device') ?? '',
    from: dayOf(query.get('from')),
    to: dayOf(query.get('to')),
  }
}
export type AlertFilters = ReturnType<typeof readFilters>

/** The first and last instants of the chosen days in the viewer's zone; null where none is chosen. */
const spanOf = ({ from, to }: AlertFilters) => ({
  from: from ? new Date(`${from}T00:00`).toISOString() : null,
  to: to ? new Date(`${to}T23:59:59.999`).toISOString() : null,
})

export const isShown = (alert: Alert, filters: AlertFilters): boolean => {
  const { show, isEmergency, alertName, device } = filters
  const { from, to } = spanOf(filters)
  if ((from && alert.dateTime < from) || (to && alert.dateTime > to)) return false
  if (alertName && !alert.alerts.includes(alertName)) return false
  if (device && alert.deviceId !== device) return false
  if (isEmergency && !alert.emergency) return false
  return show === 'all' || alert.state === show
}

export const readAlertPage = async (
  filters: AlertFilters,
  cursor: string | null,
  signal: AbortSignal,
) => {
  const { show, isEmergency, alertName, device } = filters
  const query = {
    ...spanOf(filters),
    limit: PAGE_SIZE,
    cursor,
    alertName,
    state: show === 'all' ? null : show,
    emergency: isEmergency ? 'true' : null,
  }
  const { alerts, nextCursor } = device
    ? await call('GET /api/devices/{deviceId}/alerts', {
        params: { deviceId: device },
        query: { ...query, sort: '-dateTime' },
        signal,
      })
    : await call('GET /api/alerts', { query, signal })
  return { items: alerts, nextCursor }
}
