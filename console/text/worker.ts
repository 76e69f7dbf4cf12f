/* The texts of the service worker, which is a script of its own and loads no other. */

export const workerText = {
  brand: 'Perigee',
  acknowledge: 'Acknowledge',
  open: 'Open',
  acknowledged: 'Acknowledged',
  notAcknowledged: 'Not acknowledged',
  /** Below the title of the alert. */
  openIt: 'Try again, or open it and acknowledge it there.',
  unreadable: 'Something happened. Open the console to see it.',
  offlineTitle: 'No connection',
  offline: 'The service cannot be reached. This page appears as soon as it can.',
  tryAgain: 'Try again',
}
