import { describe, expect, test } from 'vitest'
import { decodePush, replyTo } from '../../../../src/sources/decoding/decode.ts'
import { itemsOf, kindsOf, locationsOf, xmlPush } from '../push.ts'

describe('Globalstar SmartOne', () => {
  const envelope = (payload: string, unixTime = 1585105370) =>
    xmlPush(
      `<?xml version="1.0" encoding="utf-8"?><stuMessages timeStamp="25/03/2020 03:02:32 GMT" messageID="300421a0fd2a100585bdde409d6f601a"><stuMessage><esn>0-2682225</esn><unixTime>${unixTime}</unixTime><gps>N</gps><payload length="9" source="pc" encoding="hex">${payload}</payload></stuMessage></stuMessages>`,
    )
  const AT_REST = {
    subtype: 0,
    vibrationTriggered: false,
    vibrating: false,
    fix2D: false,
    inMotion: false,
    reducedConfidence: false,
  }
  const OPEN = [
    { triggered: false, open: true },
    { triggered: false, open: true },
  ]

  test('a standard message at rest', async () => {
    const items = await itemsOf('globalstar', envelope('0x00C583EACD37210A00'))
    expect(locationsOf(items)).toEqual([
      {
        identifier: '0-2682225',
        dateTime: '2020-03-25T03:02:50.000Z',
        latitude: -41.122062,
        longitude: -71.415918,
        inputs: OPEN,
        attributes: AT_REST,
        source: 'gnss',
      },
    ])
    expect(items[0]?.key).toBe('300421a0fd2a100585bdde409d6f601a:0-2682225:1585105370')
  })

  test('positive coordinates', async () => {
    const items = await itemsOf('globalstar', envelope('0x00337BA619B7250A00', 1550440592))
    expect(locationsOf(items)).toMatchObject([
      { dateTime: '2019-02-17T21:56:32.000Z', latitude: 36.198986, longitude: 36.162293 },
    ])
  })

  test('a low battery, an area that was left, vibration and motion', async () => {
    const items = await itemsOf('globalstar', envelope('0x04493E94FFE93F2A58'))
    expect(locationsOf(items)).toMatchObject([
      {
        latitude: 51.500001,
        longitude: -0.124991,
        attributes: {
          ...AT_REST,
          subtype: 2,
          vibrationTriggered: true,
          vibrating: true,
          inMotion: true,
        },
      },
    ])
    expect(items.flatMap((item) => ('alertName' in item ? item.alertName : []))).toEqual([
      'LowBattery',
      'Movement',
    ])
  })

  test('a message without a position that asks for a battery', async () => {
    const items = await itemsOf('globalstar', envelope(`0x${(22 * 4 + 3).toString(16)}`))
    expect(kindsOf(items)).toEqual(['none', 'alert'])
  })

  test('is answered with a receipt in XML', async () => {
    const push = envelope('0x00C583EACD37210A00')
    await itemsOf('globalstar', push)
    const { contentType, body } = replyTo('globalstar', push)
    expect(contentType).toBe('text/xml')
    expect(body).toBe(
      `<?xml version="1.0" encoding="utf-8"?><stuResponseMsg deliveryTimeStamp="15/11/2026 12:00:00 GMT" messageID="${'0'.repeat(32)}" correlationID="300421a0fd2a100585bdde409d6f601a"><state>pass</state><stateMessage>Store OK</stateMessage></stuResponseMsg>`,
    )
  })

  test('provisioning gets a receipt of its own', async () => {
    const push = xmlPush('<prvmsgs prvMessageID="7"><prvmsg><esn>0-1</esn></prvmsg></prvmsgs>')
    expect(await itemsOf('globalstar', push)).toEqual([])
    expect(replyTo('globalstar', push).body).toMatch(/<prvResponseMsg .*correlationID="7">/)
  })

  const MESSAGE =
    '<stuMessage><esn>0-2682225</esn><unixTime>1793000000</unixTime><payload>0x00C583EACD37210A00</payload></stuMessage>'
  const document = (prolog: string, content = MESSAGE) =>
    xmlPush(`${prolog}<stuMessages messageID="m-9">${content}</stuMessages>`)

  test.each([
    '<!DOCTYPE stuMessages SYSTEM "http://dtd.example/StuMessage_Rev6.dtd?a=1&b=2">',
    "<?xml version='1.0'?>\n<!DOCTYPE stuMessages\n  SYSTEM 'stu.dtd' >",
    '<!-- sent by hand --><!DOCTYPE stuMessages PUBLIC "-//Example//Stu 6" "stu.dtd">',
  ])('a document with %s is read, and answered by its id', async (prolog) => {
    const push = document(prolog)
    expect(kindsOf(await itemsOf('globalstar', push))).toEqual(['location'])
    expect(replyTo('globalstar', push).body).toContain('correlationID="m-9"')
  })

  const REFUSED = 'XML with entities, or a DOCTYPE that defines anything, is refused.'

  test.each([
    ['an internal subset', '<!DOCTYPE stuMessages [<!ENTITY a "b">]>', REFUSED],
    ['both', '<!DOCTYPE stuMessages SYSTEM "stu.dtd" [<!ENTITY a "b">]>', REFUSED],
    ['an empty subset', '<!DOCTYPE stuMessages SYSTEM "stu.dtd" []>', REFUSED],
    ['two DOCTYPEs', '<!DOCTYPE a SYSTEM "a"><!DOCTYPE a [<!ELEMENT a ANY>]>', REFUSED],
    ['small letters', '<!doctype stuMessages SYSTEM "stu.dtd">', REFUSED],
    ['no id', '<!DOCTYPE stuMessages>', REFUSED],
    ['no second quote', '<!DOCTYPE stuMessages SYSTEM "stu.dtd>', REFUSED],
    ['an entity alone', '<!ENTITY a "b">', REFUSED],
  ])('a document with %s is refused', async (_, prolog, reason) => {
    const decoded = await decodePush('globalstar', document(prolog))
    expect(decoded).toEqual({ items: [], failures: [reason] })
  })

  test('a DOCTYPE after the beginning is not well-formed', async () => {
    const push = document('', '<!DOCTYPE stuMessages SYSTEM "stu.dtd">')
    const { failures } = await decodePush('globalstar', push)
    expect(failures).toEqual(['The body is not well-formed XML.'])
  })

  test('an empty envelope is answered by its id, and is no failure', async () => {
    for (const empty of [document('', '\n'), xmlPush('<stuMessages/>')])
      expect(await itemsOf('globalstar', empty)).toEqual([])
    const push = document('', '')
    await itemsOf('globalstar', push)
    expect(replyTo('globalstar', push).body).toContain('correlationID="m-9"')
    for (const other of [document('', '<message/>'), document('', 'text'), xmlPush('<other/>')])
      expect((await decodePush('globalstar', other)).failures).toEqual([
        'The body has no stuMessage.',
      ])
  })
})
