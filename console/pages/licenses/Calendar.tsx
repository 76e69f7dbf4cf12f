import type { Device } from '../../api/types.ts'
import { dayIn, formatDay } from '../../format/time.ts'
import { place, setQuery } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { IconButton } from '../../ui/Button.tsx'
import { addMonths, daysOfMonth, monthName, monthOf, WEEKDAYS } from './month.ts'

interface CalendarProps {
  /** The devices that expire on each day. */
  byDay: ReadonlyMap<string, readonly Device[]>
  /** The account's: a day begins there. */
  timeZone: string
}

const DevicesOf = ({ day, devices }: { day: string; devices: readonly Device[] }) => (
  <li>
    <p class="calendar-day">{formatDay(day)}</p>
    <ul>
      {devices.map(({ id, name }) => (
        <li key={id}>
          <a href={`/devices/${id}`}>{name}</a>
        </li>
      ))}
    </ul>
  </li>
)

/** A month with the number of devices that expire on each day, and their names beside it. */
export const Calendar = ({ byDay, timeZone }: CalendarProps) => {
  const today = dayIn(timeZone)
  const upcoming = [...byDay.keys()].filter((day) => day > today).sort()
  const given = place.value.query.get('month') ?? ''
  const month = /^\d{4}-(0[1-9]|1[0-2])$/.test(given) ? given : monthOf(upcoming[0] ?? today)
  const show = (next: string) => setQuery({ month: next })
  const days = upcoming.filter((day) => monthOf(day) === month)
  const nextDay = upcoming.find((day) => monthOf(day) > month)
  return (
    <div class="calendar">
      <div>
        <div class="calendar-head">
          <IconButton
            icon="back"
            label={text.licenses.earlierMonth}
            onClick={() => show(addMonths(month, -1))}
          />
          <h3 aria-live="polite">{monthName(month)}</h3>
          <IconButton
            icon="chevron"
            label={text.licenses.laterMonth}
            onClick={() => show(addMonths(month, 1))}
          />
        </div>
        <table class="month">
          <caption class="visually-hidden">{text.licenses.calendarOf(monthName(month))}</caption>
          <thead>
            <tr>
              {WEEKDAYS.map(({ short, long }) => (
                <th key={long} scope="col" abbr={long}>
                  {short}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {daysOfMonth(month).map((week) => (
              <tr key={week.find((day) => day !== null)}>
                {week.map((day, at) => {
                  const count = day ? (byDay.get(day)?.length ?? 0) : 0
                  const names = `${day === today ? 'today' : ''} ${count > 0 ? 'has-devices' : ''}`
                  return (
                    <td key={day ?? `none-${at}`} class={names}>
                      {day && <span>{Number(day.slice(8))}</span>}
                      {count > 0 && (
                        <b>
                          {count}
                          <span class="visually-hidden"> {text.licenses.expire(count)}</span>
                        </b>
                      )}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="calendar-list">
        {days.length === 0 ? (
          <p class="muted">{text.licenses.noneThisMonth}</p>
        ) : (
          <ul>
            {days.map((day) => (
              <DevicesOf key={day} day={day} devices={byDay.get(day) ?? []} />
            ))}
          </ul>
        )}
        {nextDay && (
          <button type="button" class="link-button" onClick={() => show(monthOf(nextDay))}>
            {text.licenses.thenOn(formatDay(nextDay))}
          </button>
        )}
      </div>
    </div>
  )
}
