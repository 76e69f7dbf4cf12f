/**
 * Grants as many messages as the day's limit allows: none if it was lowered below what is used.
 * Once it is reached, no further message goes out on this day, unless the limit is raised.
 */
export const reserve = (limit: number, used: number, wanted: number) => {
  const granted = Math.max(0, Math.min(wanted, limit - used))
  return { granted, suppressed: wanted - granted, reached: wanted > 0 && used + granted >= limit }
}

/** What decides how much of a limit a message may use. */
interface ReservedLimit {
  limit: number
  reserve: number
  usedByEmergencies: number
  isEmergency: boolean
}

/**
 * The limit that holds for a message. Ordinary ones get the limit without the reserve, whatever
 * emergencies have used; both together never get more than the limit.
 */
export const openLimit = (limits: ReservedLimit): number => {
  const { limit, reserve: reserved, usedByEmergencies, isEmergency } = limits
  return isEmergency ? limit : Math.min(limit, limit - reserved + usedByEmergencies)
}
