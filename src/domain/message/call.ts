/* A telephone call that reads an alert and takes a key as the answer. */

export const KEY = { acknowledge: '1', repeat: '2' } as const

/** What the call says at its end if nobody presses a key. */
export const NO_KEY = 'No key was pressed. Goodbye.'

export const CHOICES = `Press ${KEY.acknowledge} to acknowledge, or ${KEY.repeat} to listen again.`

/** A key that somebody has pressed. */
export interface PressedKey {
  /** The key of the message, as its provider got it. */
  key: string
  digit: string
  /** Whether a key that is none of the choices was pressed before. */
  wasWrong: boolean
}

/** What the call says next. It then asks for a key again, or ends. */
export interface CallReply {
  text: string
  isEnd: boolean
  /** Whether the key was none of the choices: a second one ends the call. */
  isWrong?: boolean
}
