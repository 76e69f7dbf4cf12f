import { describe, expect, test } from 'vitest'
import { checkPublicUrl } from '../../../src/domain/text/publicUrl.ts'

const PUBLIC = [
  'https://example.com/hook',
  'https://example.com:8443/hook?a=b#c',
  'https://EXAMPLE.com./hook',
  'https://hooks.local.example.com/',
  'https://internal.example.com/',
  'https://localhost.example.com/',
  'https://münchen.example/',
  'https://1.example.com/',
  'https://127.0.0.1.example.com/',
]

const PRIVATE = {
  'no URL at all': [
    '',
    'example.com',
    '/hook',
    'https://',
    'https:// /',
    'https://exa mple.com/',
    'https://%00.com/',
  ],
  'another scheme': [
    'http://example.com/',
    'ftp://example.com/',
    'ws://example.com/',
    'file:///etc/passwd',
    'data:text/plain,x',
    'javascript:1',
  ],
  userinfo: [
    'https://user@example.com/',
    'https://user:secret@example.com/',
    'https://:secret@example.com/',
    'https://example.com@10.0.0.1/',
  ],
  'IPv4, dotted': [
    'https://127.0.0.1/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://0.0.0.0/',
    'https://8.8.8.8/',
    'https://127.0.0.1./',
    'https://127.0.0.1:8443/',
  ],
  'IPv4, short': ['https://127.1/', 'https://127.0.1/', 'https://10.1/', 'https://0/'],
  'IPv4, decimal': ['https://2130706433/', 'https://3232235777/', 'https://2852039166/'],
  'IPv4, hexadecimal': [
    'https://0x7f000001/',
    'https://0x7f.0x0.0x0.0x1/',
    'https://0x7F.1/',
    'https://0xa9fea9fe/',
  ],
  'IPv4, octal': [
    'https://017700000001/',
    'https://0177.0.0.1/',
    'https://0177.0.0.01/',
    'https://0251.0376.0251.0376/',
  ],
  'IPv4, mixed': ['https://0x7f.0.0.01/', 'https://127.0x0.1/'],
  'IPv4, in other letters': [
    'https://①②⑦.⓪.⓪.①/',
    'https://127。0。0。1/',
    'https://１２７.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://127.0.0.1%2e/',
    'https:\\\\127.0.0.1\\',
    'https:127.0.0.1',
    ' https://127.0.0.1/',
    'https://127\t.0.0.1/',
  ],
  'numbers that are no address': [
    'https://256.256.256.256/',
    'https://1.2.3.4.5/',
    'https://example.1/',
    'https://0x/',
  ],
  IPv6: [
    'https://[::1]/',
    'https://[::]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://[fe80::1]/',
    'https://[fc00::1]/',
    'https://[fd00:ec2::254]/',
    'https://[2606:4700:4700::1111]/',
    'https://[::1]:8443/',
    'https://[fe80::1%25eth0]/',
  ],
  'IPv4 inside IPv6': [
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::127.0.0.1]/',
    'https://[0:0:0:0:0:ffff:10.0.0.1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[2002:7f00:1::]/',
  ],
  'names of this machine': [
    'https://localhost/',
    'https://LOCALHOST/',
    'https://localhost./',
    'https://localhost:8443/',
    'https://app.localhost/',
    'https://ｌocalhost/',
    'https://loc%61lhost/',
    'https://localhost.localdomain/',
  ],
  'names of a private network': [
    'https://printer.local/',
    'https://PRINTER.LOCAL./',
    'https://metadata.google.internal/',
    'https://db.internal/',
    'https://internal/',
    'https://local/',
    'https://intranet/',
    'https://router/',
    'https://nas.lan/',
    'https://nas.home.arpa/',
    'https://host.docker.internal/',
  ],
  'too long': [`https://example.com/${'a'.repeat(2048)}`],
}

test.each(PUBLIC)('%s is allowed', (text) => {
  expect(checkPublicUrl(text, false).ok).toBe(true)
})

describe.each(Object.entries(PRIVATE))('%s is refused', (_, texts) => {
  test.each(texts)('%s', (text) => {
    expect(checkPublicUrl(text, false)).toEqual({
      ok: false,
      detail: expect.stringMatching(/^must /),
    })
  })
})

describe('the development flag', () => {
  const LOOPBACK = [
    'http://localhost:3000/hook',
    'https://localhost/',
    'http://127.0.0.1:3000/',
    'http://127.1/',
    'http://[::1]:3000/',
  ]

  test.each(LOOPBACK)('allows %s, which is refused without it', (text) => {
    expect(checkPublicUrl(text, true).ok).toBe(true)
    expect(checkPublicUrl(text, false).ok).toBe(false)
  })

  const refused = Object.values(PRIVATE).flat()
  const isLoopback = (text: string) => {
    const host = URL.parse(text)?.hostname.replace(/\.$/, '') ?? ''
    return host === 'localhost' || host === '[::1]' || host.startsWith('127.')
  }
  test.each(refused.filter((text) => !isLoopback(text) || text.includes('@')))(
    'lets nothing else through: %s',
    (text) => {
      expect(checkPublicUrl(text, true).ok).toBe(false)
    },
  )
})
