/* Who signed in last in this browser. A password or a key is never stored. */

const NAME = 'perigee.last-sign-in'

interface Remembered {
  account: string
  email: string
}

export const readRemembered = (): Remembered => {
  try {
    const { account, email } = JSON.parse(localStorage.getItem(NAME) ?? '{}')
    return { account: String(account ?? ''), email: String(email ?? '') }
  } catch {
    return { account: '', email: '' }
  }
}

/** Without an address, as by a key, the one that was used with the same account is kept. */
export const remember = (account: string, email?: string): void => {
  const before = readRemembered()
  const known = before.account === account ? before.email : ''
  localStorage.setItem(NAME, JSON.stringify({ account, email: email ?? known }))
}
