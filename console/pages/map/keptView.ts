import { session } from '../../session/session.ts'

/* Where the reader has left the map, for this tab. Signing out deletes it. */

export interface View {
  center: [longitude: number, latitude: number]
  zoom: number
}

const keyOf = (): string => `perigee.map.${session.me.peek()?.account.id}`

export const readView = (): View | null => JSON.parse(sessionStorage.getItem(keyOf()) ?? 'null')

export const keepView = (view: View): void => sessionStorage.setItem(keyOf(), JSON.stringify(view))
