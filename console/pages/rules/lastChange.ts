import type { Rule, TestedAlert } from '../../api/types.ts'

/** Whether a rule raises no such alert live. It may have been switched on since it was tried. */
export const isBeforeChange = (
  { sinceChange, dateTime }: Pick<TestedAlert, 'sinceChange' | 'dateTime'>,
  { lastModified }: Pick<Rule, 'lastModified'>,
): boolean => !sinceChange || Date.parse(dateTime) < Date.parse(lastModified)
