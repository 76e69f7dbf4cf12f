/*
 * Which operations a token of each scope may call: of several scopes, one is enough. Written out,
 * because a test that takes them from the contracts cannot find a wrong one.
 */
const OPERATIONS: Record<string, string> = {
  open: 'readHealth readOpenApi getToken signIn refresh signOut requestReset setPassword readPushKey',
  operator: `
    listAccounts createAccount readOperatedAccount patchOperatedAccount deleteAccount
    undeleteAccount keepAccount listAllAudit exportOperatedAccount importAccount
    readSelf listOperators createOperator readOperator patchOperator deleteOperator
    regenerateOperatorKey startSupport endSupport
    createAccountKey restoreLedger reconcileAccount reconcileCell rotatePushKey
    readOperatorHealth readMetrics
    readOperatedUsage listUsage
    moveAccount readMove cancelMove
  `,
  'read write execute admin': `
    listSessions endSession readConsent decideConsent readMe
    listPushSubscriptions createPushSubscription deletePushSubscription
  `,
  read: `
    listMessages readAccount readLicenseLog readAccountUsage listDevices readDevice readUsage readLastLocation
    listLocations listEvents openStream listGroups readGroup listCountries listTimeZones
    listUsers readUser listZones readZone exportZones describePlace listRules readRule testRule
    listWatches readWatch
    listDeviceAlerts listTrips listStops readSummary listAlerts readAlert decodePayload
    listQuarantine listCommands readCommand
  `,
  'ingest write': 'reportLocations',
  'ingest read write': 'postLocations postAlerts',
  write: `
    retryMessage createDevice replaceDevice patchDevice deleteDevice restoreDevice reactivateDevice
    createGroup replaceGroup patchGroup deleteGroup createZone replaceZone patchZone deleteZone
    importZones createRule replaceRule patchRule deleteRule acknowledgeAlert cancelAlert
    resolveAlert reopenAlert noteAlert
    releaseQuarantine discardQuarantine
    createWatch replaceWatch patchWatch deleteWatch checkInWatch extendWatch completeWatch
    cancelWatch showWatchLink
    listShares createShare readShare replaceShare patchShare deleteShare
  `,
  execute: 'sendCommand',
  admin: `
    listSandboxes openSandbox keepSandbox
    listAudit exportAccount listKeys createKey readKey deleteKey regenerateKey patchAccount listWebhooks createWebhook
    readWebhook replaceWebhook patchWebhook deleteWebhook testWebhook rotateSecret
    listDeliveries redeliver createUser replaceUser patchUser deleteUser inviteUser
    listUnclaimed claimIdentifier discardIdentifier listFailures readRawPayload replayPayloads
    listSources createSource readSource replaceSource patchSource deleteSource rotateSource
    readCommandChannel setCommandChannel
  `,
}

/** The scopes of which a token needs one, by operation. */
export const SCOPES_OF: Record<string, string[]> = Object.fromEntries(
  Object.entries(OPERATIONS).flatMap(([scopes, ids]) =>
    ids
      .trim()
      .split(/\s+/)
      .map((id) => [id, scopes.split(' ')]),
  ),
)
