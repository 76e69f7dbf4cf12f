import { formatCoordinates } from '../../geo/place.ts'
import { describeAge, describePlaceAge, formatShortTime, placeOf } from '../alertText.ts'
import {
  type AlertDetails,
  headline,
  linkOf,
  type MessageText,
  testMark,
  toOneLine,
} from './messageText.ts'
import { composeNoticeEmail, type NoticeContent } from './noticeText.ts'

/*
 * The text of a notification: its title, some lines, and the link in a last line of its own, which the
 * provider cuts off. Browsers show about four short lines.
 */

const MAX_TITLE = 100
const MAX_TEXT = 300
const MAX_NOTICE = 500

const placeLine = ({ alert, newest, sentAt }: AlertDetails): string => {
  const place = newest ?? placeOf(alert)
  if (!place) return 'No position known.'
  const words = newest ? newest.words : alert.place
  const age = newest ? describePlaceAge(newest.time, sentAt) : describeAge(alert)
  const where = words ? `${words} (${formatCoordinates(place)})` : formatCoordinates(place)
  return age ? `${where}. ${age}` : where
}

export const composePush = (details: AlertDetails, timeZone: string): MessageText => {
  const { alert } = details
  const text = toOneLine(alert.text, MAX_TEXT)
  const lines = [
    formatShortTime(alert.dateTime, timeZone),
    placeLine(details),
    ...(text ? [text] : []),
    linkOf(details),
  ]
  return {
    subject: toOneLine(`${testMark(alert)}${headline(details)}`, MAX_TITLE),
    text: lines.join('\n'),
  }
}

export const composeNoticePush = (content: NoticeContent, timeZone: string): MessageText => {
  const { subject, text } = composeNoticeEmail(content, timeZone)
  return { subject: toOneLine(subject, MAX_TITLE), text: toOneLine(text, MAX_NOTICE) }
}
