import { describe, expect, test } from 'vitest'
import { showBytes } from '../../../../console/pages/sources/failures/payloadText.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('a payload', () => {
  test('is shown as text where it is text, markup and all', () => {
    const text = '<a>\r\n\tñ €</a>'
    expect(showBytes(bytesOf(text))).toEqual({ text, isText: true, cutAt: null })
  })

  test('is shown in hexadecimal where it is not', () => {
    const { text, isText } = showBytes(new Uint8Array([0x00, 0xc5, 0x83, 0x41, 0x7e, 0x7f]))
    expect(isText).toBe(false)
    expect(text).toBe(`000000  00 c5 83 41 7e 7f${' '.repeat(30)}  ...A~.`)
  })

  test('with control characters is no text', () => {
    expect(showBytes(bytesOf('\u001b[2J')).isText).toBe(false)
  })

  test('is cut where it is long, and not taken for bytes by a cut letter', () => {
    const { isText, cutAt, text } = showBytes(bytesOf(`a${'€'.repeat(6000)}`))
    expect({ isText, cutAt }).toEqual({ isText: true, cutAt: 16_384 })
    expect(text.endsWith('€')).toBe(true)
    const dump = showBytes(new Uint8Array(20_000))
    expect(dump.text.split('\n')).toHaveLength(16_384 / 16)
  })
})
