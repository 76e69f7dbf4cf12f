import { expect, test } from 'vitest'
import { accessFault, accessOf, MAX_PUBLIC_URL_LENGTH, publicUrlFault } from '../../src/env.ts'

const ofLength = (length: number) => `https://${'a'.repeat(length - 12)}.com`

test.each([undefined, '', 'https://perigee.example', 'http://localhost:8787/', ofLength(40)])(
  'the address %s is accepted',
  (url) => {
    expect(publicUrlFault(url === undefined ? {} : { PUBLIC_URL: url })).toBeNull()
  },
)

test.each([
  'perigee.example',
  'ftp://perigee.example',
  'https://perigee.example/app',
  'https://a.b?c',
])('%s is no address of a service', (PUBLIC_URL) => {
  expect(publicUrlFault({ PUBLIC_URL })).toContain('PUBLIC_URL must be an address')
})

test('an address for which an SMS would need two segments is refused', () => {
  expect(MAX_PUBLIC_URL_LENGTH).toBe(40)
  expect(publicUrlFault({ PUBLIC_URL: ofLength(41) })).toContain('at most 40 characters')
})

test.each([
  [{}, null],
  [{ ACCESS_TEAM_DOMAIN: 'example.cloudflareaccess.com', ACCESS_AUD: 'tag' }, null],
  [{ ACCESS_TEAM_DOMAIN: 'example.cloudflareaccess.com' }, 'together'],
  [{ ACCESS_AUD: 'tag' }, 'together'],
  [{ ACCESS_TEAM_DOMAIN: 'https://example.com', ACCESS_AUD: 'tag' }, 'host name'],
  [{ ACCESS_TEAM_DOMAIN: 'example.com/certs', ACCESS_AUD: 'tag' }, 'host name'],
])('the settings %o of Cloudflare Access: %s', (settings, fault) => {
  if (fault === null) expect(accessFault(settings)).toBeNull()
  else expect(accessFault(settings)).toContain(fault)
  expect(accessOf(settings) === null).toBe(fault !== null || Object.keys(settings).length === 0)
})
