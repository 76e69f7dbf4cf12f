/** The degrees of an account, from the one that everything is allowed in to the strictest. */
export const ACCOUNT_STATUSES = ['active', 'notice', 'readOnly', 'ingestOnly', 'disabled'] as const
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number]

/**
 * What an operation is for. `self` is about the caller and the status of its account. `intake` takes
 * reports: those of a disabled account are refused by their handler unless they carry an emergency.
 * `urgent` is what somebody does about an emergency.
 */
export type Purpose = 'read' | 'write' | 'self' | 'intake' | 'urgent'

const LAST_STATUS: Record<Purpose, AccountStatus> = {
  write: 'notice',
  read: 'readOnly',
  self: 'ingestOnly',
  intake: 'disabled',
  urgent: 'disabled',
}

export const permits = (status: AccountStatus, purpose: Purpose): boolean =>
  ACCOUNT_STATUSES.indexOf(status) <= ACCOUNT_STATUSES.indexOf(LAST_STATUS[purpose])

/** How long a deleted account can be brought back. */
export const UNDELETE_ACCOUNT_DAYS = 30
/** How long a deleted device can be restored. */
export const RESTORE_DEVICE_DAYS = 7
