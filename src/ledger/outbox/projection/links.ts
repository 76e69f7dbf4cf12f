import { hashLink } from '../../../ids.ts'
import type { NewMessage, Posted } from '../outbox.ts'

/* The cell keeps links as hashes. Hashing is asynchronous, so decisions cannot do it. */

const hashed = async ({ link, ...message }: NewMessage) =>
  link === undefined ? message : { ...message, linkHash: await hashLink(link) }

/** The effects with the hash of each link in its place. */
export const hashLinks = (effects: Posted[]): Promise<Hashed[]> =>
  Promise.all(
    effects.map(async (effect): Promise<Hashed> => {
      if (effect.kind === 'messages')
        return { ...effect, messages: await Promise.all(effect.messages.map(hashed)) }
      if (effect.kind !== 'message-state') return effect
      const { link, ...state } = effect
      return link === undefined ? state : { ...state, linkHash: await hashLink(link) }
    }),
  )

type HashedMessage = Omit<NewMessage, 'link'> & { linkHash?: string }

/** An effect without links. */
export type Hashed =
  | Exclude<Posted, { kind: 'messages' | 'message-state' }>
  | (Omit<Extract<Posted, { kind: 'messages' }>, 'messages'> & { messages: HashedMessage[] })
  | (Omit<Extract<Posted, { kind: 'message-state' }>, 'link'> & { linkHash?: string })
