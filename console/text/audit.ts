import { plural } from './plural.ts'

/* Texts of the audit, with names of its actions and members. */

/** "dailyEmailLimit" becomes "daily email limit". */
const inWords = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).trim()

const capitalized = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

/** Where the words of the name are not those of the console. */
const ACTIONS: Record<string, string> = {
  'account.reconciled': 'Account compared and corrected',
  'device.commandChannelSet': 'Way of commands chosen',
  'device.quarantineDiscarded': 'Quarantined locations discarded',
  'device.quarantineReleased': 'Quarantined locations accepted',
  'key.signedIn': 'Signed in with a key',
  'operator.signedIn': 'Operator signed in',
  'key.usedFromNewNetwork': 'Key used from a new network',
  'pushSubscription.created': 'Notifications switched on',
  'pushSubscription.deleted': 'Notifications switched off',
  'session.ended': 'Signed out',
  'session.started': 'Signed in',
  'signIn.refused': 'Sign-in refused',
  'source.addressReplaced': 'Address of source replaced',
  'source.identifierDiscarded': 'Unknown tracker discarded',
  'source.replayed': 'Payloads of source decoded again',
  'source.secretsChanged': 'Credentials of source changed',
  'track.exported': 'Track exported',
  'user.passwordSet': 'Password set',
  'user.resetRequested': 'Password reset requested',
  'watch.checkedIn': 'Checked in',
  'webhook.disabled': 'Webhook disabled by the service',
  'webhook.redelivered': 'Delivery of webhook repeated',
  'webhook.secretRotated': 'Secret of webhook replaced',
  'zones.exported': 'Zones exported',
}

const VERBS: Record<string, string> = { updated: 'changed' }

const MEMBERS: Record<string, string> = {
  deviceId: 'device',
  min: 'phone number',
  sms: 'SMS',
  sourceId: 'source',
  total: 'licenses',
  url: 'address',
  userAgent: 'browser',
  userId: 'user',
}

export const auditText = {
  title: 'Audit',
  lead: 'Who did what, when and from where, for 400 days. Nobody can change or delete it. Reports of devices are not listed.',
  when: 'Time',
  who: 'Who',
  action: 'What',
  resource: 'Of what',
  changes: 'Changes',
  address: 'Address',
  request: 'Request',
  from: 'From',
  to: 'Until',
  everything: 'Everything',
  everybody: 'Everybody',
  ofOne: 'Of one item only',
  byOne: 'By one only',
  onlyThose: 'Show only:',
  only: { actor: 'what they did', resource: 'this item', action: 'this action' },
  details: 'Details',
  count: (count: number) => plural(count, 'change', 'changes'),
  emptyTitle: 'Nothing found',
  empty: 'No entry matches the filters.',
  whoChanged: 'Who changed this',
  none: 'Nothing in the last 400 days.',
  all: 'Show all in the audit',
  unset: 'empty',
  hidden: 'hidden',
  yes: 'yes',
  no: 'no',
  actors: {
    user: 'User',
    key: 'Key',
    operator: 'Operator of the service',
    source: 'Source',
    system: 'The service itself',
  },
  kinds: {
    account: 'Account',
    alert: 'Alerts',
    command: 'Commands',
    device: 'Devices',
    group: 'Groups',
    history: 'Archived history',
    key: 'Keys',
    message: 'Messages',
    pushSubscription: 'Notifications',
    rule: 'Rules',
    sandbox: 'Sandboxes',
    session: 'Sign-ins',
    share: 'Shares',
    signIn: 'Refused sign-ins',
    source: 'Sources',
    support: 'Support access',
    track: 'Exported tracks',
    usageMonth: 'Usage of a month',
    user: 'Users',
    watch: 'Watches',
    webhook: 'Webhooks',
    zone: 'Zones',
  },
  inWords,
  actionName: (action: string): string => {
    const [type = '', verb = ''] = action.split('.')
    return ACTIONS[action] ?? capitalized(`${inWords(type)} ${VERBS[verb] ?? inWords(verb)}`)
  },
  typeName: (type: string): string => capitalized(inWords(type)),
  /** "limits/dailyEmailLimit" becomes "Limits: daily email limit". */
  memberName: (path: string): string =>
    capitalized(
      path
        .split('/')
        .map((name) => MEMBERS[name] ?? inWords(name))
        .join(': '),
    ),
}
