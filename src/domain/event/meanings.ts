import type { EventType } from './event.ts'

/** When each event is logged, for the OpenAPI document. */
export const MEANINGS: Record<EventType, string> = {
  'device.created': 'A device was created.',
  'device.updated': 'A device was edited.',
  'device.deleted': 'A device was deleted.',
  'device.restored': 'A deleted device was restored.',
  'device.expired': 'A device has expired and no longer uses a license.',
  'device.reactivated': 'An expired device is active again.',
  'location.reported':
    'A device has reported locations; one event for each report. It is logged only while an enabled webhook or an open stream asks for it.',
  'alert.raised': 'A device has raised an alert.',
  'alert.updated':
    'The device has raised an open emergency again, which has its new time and place. One older than the known place is not logged. Beyond 50 times it is logged once a minute.',
  'alert.acknowledged': 'An alert was acknowledged.',
  'alert.undelivered':
    'An emergency has reached nobody. `notices` says how many messages to the account’s administrators and emergency contacts are queued.',
  'alert.escalated': 'An emergency that nobody has acknowledged was sent again.',
  'alert.cancelled': 'An alert was cancelled as a false alarm.',
  'alert.resolved': 'An alert was resolved: it is over.',
  'alert.reopened': 'An alert that was acknowledged or over is open again.',
  'alert.noted': 'A note was added to an alert.',
  'zone.entered': 'A device came into a zone that a rule of type `enters` names.',
  'zone.left': 'A device went out of a zone that a rule of type `leaves` names.',
  'device.silent': 'A device has sent nothing for as long as a rule of type `silent` allows.',
  'device.returned': 'A device that was silent is in contact again.',
  'watch.due':
    'A check-in is due soon, as `remindMinutes` says, or now. The device is reminded where it has a channel.',
  'watch.overdue':
    'A check-in was missed. Its alert is raised, unless the device is expired and it is no emergency.',
  'watch.checkedIn':
    'A check-in has arrived. One by any contact is found when the watch is due, or overdue.',
  'message.sent': 'A provider has accepted a message.',
  'message.failed': 'A message failed and is not retried.',
  'message.received': 'A message written on a device arrived by its network.',
  'message.suppressed': 'A message was not sent because the device has reached its daily limit.',
  'limit.reached': 'A device has reached its daily limit for a channel.',
  'license.exhausted': 'The last free license was taken.',
  'license.available': 'A license is free again.',
  'key.created': 'An API key was created.',
  'key.revoked': 'An API key was deleted or replaced.',
}
