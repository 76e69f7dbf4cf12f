import { describe, expect, test } from 'vitest'
import { itemsOf, jsonPush, locationsOf, xmlPush } from '../push.ts'

describe('SPOT', () => {
  const xml = (type: string, battery = 'GOOD') =>
    xmlPush(
      `<messageList xmlns="http://v2.shared.globalstar.com"><message><id>891801957</id><esn>0-3112123</esn><esnName>0-3112123a</esnName><messageType>${type}</messageType><messageDetail>moved</messageDetail><timestamp>2017-12-27T13:19:38.000Z</timestamp><timeInGMTSecond>1514380778</timeInGMTSecond><latitude>-1.28781</latitude><longitude>-47.93042</longitude><batteryState>${battery}</batteryState></message></messageList>`,
    )

  test('a message of the XML push', async () => {
    const items = await itemsOf('spot', xml('NEWMOVEMENT'))
    expect(locationsOf(items)).toEqual([
      {
        identifier: '0-3112123',
        dateTime: '2017-12-27T13:19:38.000Z',
        latitude: -1.28781,
        longitude: -47.93042,
        source: 'gnss',
      },
    ])
    expect(items[0]?.key).toBe('891801957')
    expect(items[1]).toMatchObject({ kind: 'alert', alertName: 'Movement', text: 'moved' })
  })

  test('a text with references to characters, and with some that XML does not allow', async () => {
    const detail = 'It&#39;s &#xe9;t&#233; &lt;5&#176; &amp;lt; &#0; &#xD800; &#9999999; B&B \u0007'
    const push = xmlPush(
      `<messageList><message><id>1</id><esn>0-1</esn><messageType>OK</messageType><messageDetail>${detail}</messageDetail><timeInGMTSecond>1514380778</timeInGMTSecond></message></messageList>`,
    )
    const [, message] = await itemsOf('spot', push)
    expect(message).toMatchObject({
      kind: 'message',
      text: "It's été <5° &lt; &#0; &#xD800; &#9999999; B&B \ufffd",
    })
  })

  test('many messages, whose XML is parsed in pieces', async () => {
    const texts = Array.from({ length: 500 }, (_, n) => `${'é😀'.repeat(n % 20)}&amp;${n}`)
    const messages = texts.map(
      (text, n) =>
        `<message><id>${n}</id><esn>0-1</esn><messageType>OK</messageType><messageDetail>${text}</messageDetail><timeInGMTSecond>${1514380778 + n}</timeInGMTSecond></message>`,
    )
    const items = await itemsOf('spot', xmlPush(`<messageList>${messages.join('')}</messageList>`))
    expect(items.flatMap((item) => (item.kind === 'message' ? item.text : []))).toEqual(
      texts.map((text) => text.replace('&amp;', '&')),
    )
  })

  test('help, its cancellation and a low battery', async () => {
    expect((await itemsOf('spot', xml('HELP')))[1]).toMatchObject({
      kind: 'alert',
      alertName: 'SOSButton',
    })
    expect((await itemsOf('spot', xml('HELP-CANCEL')))[1]).toMatchObject({
      kind: 'cancel',
      alertName: 'SOSButton',
    })
    expect((await itemsOf('spot', xml('TRACK', 'LOW')))[1]).toMatchObject({
      alertName: 'LowBattery',
    })
  })

  test('the OK button is a check-in at its own time, and no other message is', async () => {
    const okTimes = async (type: string) =>
      (await itemsOf('spot', xml(type))).map((item) => ('okAt' in item ? item.okAt : null))
    expect(await okTimes('OK')).toEqual([1514380778_000, null])
    for (const type of ['CUSTOM', 'TRACK', 'STOP', 'ok', 'HELP'])
      expect(await okTimes(type)).toEqual([null, null])
    const unplaced =
      '<messageList><message><id>5</id><esn>0-3112123</esn><messageType>OK</messageType><timestamp>2026-05-28T19:34:24.000Z</timestamp></message></messageList>'
    expect(await itemsOf('spot', xmlPush(unplaced))).toEqual([
      {
        kind: 'none',
        identifier: '0-3112123',
        key: '5',
        okAt: Date.parse('2026-05-28T19:34:24.000Z'),
      },
    ])
  })

  test('a message of the feed', async () => {
    const message = {
      id: 823677113,
      messengerId: '0-3049668',
      messengerName: 'svcatsaway',
      unixTime: 1504560201,
      messageType: 'UNLIMITED-TRACK',
      latitude: 44.26,
      longitude: -76.37,
      modelId: 'SPOT3',
      showCustomMsg: 'Y',
      dateTime: '2017-09-04T21:23:21+0000',
      batteryState: 'GOOD',
      hidden: 0,
      altitude: 74,
    }
    const expected = [
      {
        identifier: '0-3049668',
        dateTime: '2017-09-04T21:23:21.000Z',
        latitude: 44.26,
        longitude: -76.37,
        altitude: 74,
        source: 'gnss',
      },
    ]
    expect(locationsOf(await itemsOf('spot', jsonPush(message)))).toEqual(expected)
    const feed = { response: { feedMessageResponse: { messages: { message } } } }
    expect(locationsOf(await itemsOf('spot', jsonPush(feed)))).toEqual(expected)
  })
})
