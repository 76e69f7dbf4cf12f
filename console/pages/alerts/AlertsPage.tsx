import { call } from '../../api/client.ts'
import { deviceName } from '../../api/names.ts'
import { usePages } from '../../api/resource.ts'
import type { Alert } from '../../api/types.ts'
import { useLiveEvents } from '../../live/useLive.ts'
import { setQuery } from '../../router/router.ts'
import { session } from '../../session/session.ts'
import { alertLabel, text } from '../../text/text.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { TextField } from '../../ui/form/fields.tsx'
import { SearchInput } from '../../ui/form/SearchInput.tsx'
import { Switch } from '../../ui/form/Switch.tsx'
import { Icon } from '../../ui/Icon.tsx'
import { DeviceLink, RaisedBy } from '../../ui/links.tsx'
import { FilterChip, Filters } from '../../ui/list/Filters.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/Time.tsx'
import { AlertState, Sent } from './AlertBadges.tsx'
import { Acknowledge } from './actions.tsx'
import { type AlertFilters, isShown, readAlertPage, readFilters, SHOWS } from './alertFilters.ts'

const LIVE_TYPES = ['alert.*', 'message.*']

/** Keeps the list as it is on the service while alerts are raised, acknowledged and sent. */
const useLiveAlerts = (pages: ReturnType<typeof usePages<Alert>>, filters: AlertFilters) =>
  useLiveEvents(
    LIVE_TYPES,
    async ({ type, data }) => {
      const alertId = typeof data.alertId === 'string' ? data.alertId : null
      if (!alertId) return
      const isNew = type === 'alert.raised'
      if (!isNew && !pages.items.some(({ id }) => id === alertId)) return
      const { alert } = await call('GET /api/alerts/{alertId}', { params: { alertId } })
      pages.set((items) => {
        const others = items.filter(({ id }) => id !== alertId)
        if (isNew && !isShown(alert, filters)) return items
        const isKnown = others.length < items.length
        // An alert that was acknowledged here stays in sight until the page is loaded again.
        if (isKnown) return items.map((one) => (one.id === alertId ? alert : one))
        const sorted = [alert, ...others]
        return sorted.sort((a, b) => (a.dateTime < b.dateTime ? 1 : -1))
      })
    },
    pages.reload,
  )

export default () => {
  const filters = readFilters()
  const { show, alertName, device } = filters
  const pages = usePages(
    (cursor, signal) => readAlertPage(filters, cursor, signal),
    [show, filters.isEmergency, alertName, device, filters.from, filters.to],
  )
  useLiveAlerts(pages, filters)
  const replace = (alert: Alert) =>
    pages.set((items) => items.map((one) => (one.id === alert.id ? alert : one)))
  const columns: Column<Alert>[] = [
    {
      key: 'alert',
      label: text.alerts.alert,
      cell: (alert) => (
        <span class={alert.emergency ? 'alert-name emergency' : 'alert-name'}>
          {alert.emergency && <Icon name="warning" size={16} />}
          <b>{alert.alerts.map(alertLabel).join(', ')}</b>
          {alert.text && <span class="muted">{alert.text}</span>}
        </span>
      ),
    },
    {
      key: 'device',
      label: text.alerts.device,
      cell: ({ deviceId, place: words }) => (
        <span class="alert-name">
          <DeviceLink id={deviceId} />
          {words && <span class="muted">{words}</span>}
        </span>
      ),
    },
    {
      key: 'time',
      label: text.alerts.time,
      cell: ({ dateTime }) => <Time value={dateTime} isRelative />,
    },
    ...(pages.items.some(({ ruleId }) => ruleId)
      ? [
          {
            key: 'rule',
            label: text.rules.raisedBy,
            cell: (alert: Alert) => <RaisedBy {...alert} />,
          },
        ]
      : []),
    { key: 'state', label: text.alerts.state, cell: (alert) => <AlertState alert={alert} /> },
    {
      key: 'sent',
      label: text.alerts.messages,
      cell: (alert) => <Sent alert={alert} />,
      isMinor: true,
    },
    ...(session.can('write')
      ? [
          {
            key: 'actions',
            label: text.common.actions,
            cell: (alert: Alert) =>
              alert.acknowledged ? null : (
                <Acknowledge alert={alert} onDone={replace} size="small" />
              ),
          },
        ]
      : []),
  ]
  return (
    <Page title={text.alerts.title} lead={text.alerts.lead}>
      <Filters>
        <Choices
          label={text.alerts.show}
          isLabelHidden
          value={show}
          choices={SHOWS.map((value) => ({ value, label: text.alerts.shows[value] }))}
          onChange={(value) => setQuery({ show: value === 'open' ? null : value })}
        />
        <Switch
          label={text.alerts.emergenciesOnly}
          isOn={filters.isEmergency}
          onChange={(isOn) => setQuery({ emergency: isOn ? 'true' : null })}
        >
          {text.alerts.emergenciesOnly}
        </Switch>
        <SearchInput
          label={text.alerts.nameFilter}
          value={alertName}
          onInput={(value) => setQuery({ name: value })}
        />
        <TextField
          label={text.alerts.from}
          type="date"
          value={filters.from}
          onInput={(from) => setQuery({ from })}
          {...(filters.to && { max: filters.to })}
        />
        <TextField
          label={text.alerts.to}
          type="date"
          value={filters.to}
          onInput={(to) => setQuery({ to })}
          {...(filters.from && { min: filters.from })}
        />
        {device && (
          <FilterChip onClear={() => setQuery({ device: null })}>
            <DeviceFilterName id={device} />
          </FilterChip>
        )}
      </Filters>
      <Table
        label={text.alerts.title}
        columns={columns}
        pages={pages}
        href={({ id }) => `/alerts/${id}`}
        empty={
          <Empty icon="alert" title={text.alerts.emptyTitles[show]}>
            {text.alerts.empty}
          </Empty>
        }
      />
    </Page>
  )
}

const DeviceFilterName = ({ id }: { id: string }) => (
  <>{text.alerts.ofDevice(deviceName(id) ?? id)}</>
)
