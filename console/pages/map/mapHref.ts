import { place } from '../../router/router.ts'

/** An address of the map that keeps the search and the filter of the list. */
export const mapHref = (path: string): string => {
  const kept = [...place.value.query].filter(([name]) => name === 'q' || name === 'state')
  return kept.length > 0 ? `${path}?${new URLSearchParams(kept)}` : path
}
