import { describe, expect, test } from 'vitest'
import { replyTo } from '../../../../src/sources/decoding/decode.ts'
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
})
