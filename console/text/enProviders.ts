/* Texts of providers and apps. They are long, and loaded with the pages of sources. */

export const providerText = {
  osmand: {
    name: 'Traccar Client, OsmAnd, GPSLogger, Locus Map',
    steps: [
      'Choose the unit of speed that the app sends. Apps with different units need different sources.',
      'Enter the template of the app. It is shown with the address, also as a QR code.',
    ],
    identifier: 'the id that the app sends',
  },
  traccar: {
    name: 'Traccar server',
    steps: [
      'In traccar.xml set forward.type to json and forward.url to the address.',
      'Set forward.retry.enable to true: without it, Traccar loses what it cannot send at once.',
      'event.forward.url may be the same address.',
    ],
    identifier: 'the uniqueId of the device in Traccar',
  },
  garmin: {
    name: 'Garmin inReach',
    steps: [
      'Needs a professional account.',
      'In the portal: Settings → Portal Connect → Outbound settings.',
      'Enter the address as the URL of IPC Outbound.',
    ],
    identifier: 'the IMEI',
  },
  rockblock: {
    name: 'RockBLOCK',
    steps: [
      'In the administration: Delivery Groups → Add Delivery Address.',
      'Choose HTTP_JSON or HTTP_POST and enter the address.',
    ],
    identifier: 'the IMEI',
  },
  rock7: {
    name: 'Rock 7 Core (RockSTAR, RockFLEET, RockAIR)',
    steps: ['In Core: Setup → Push API.', 'Enter the address, as form or JSON.'],
    identifier: 'the IMEI',
  },
  cloudloop: {
    name: 'Cloudloop',
    steps: ['Data → Destinations → HTTP webhook.', 'Enter the address.'],
    identifier: 'the IMEI',
  },
  spot: {
    name: 'SPOT',
    steps: ['Ask SPOT for an XML push to the address.'],
    identifier: 'the ESN, such as 0-3112123',
  },
  globalstar: {
    name: 'Globalstar SmartOne',
    steps: ['Ask Globalstar or your reseller to forward the messages of your ESNs to the address.'],
    identifier: 'the ESN',
  },
  owntracks: {
    name: 'OwnTracks',
    steps: ['In the app: Preferences → Connection → Mode HTTP.', 'Enter the address as URL.'],
    identifier: 'user and device name, as in ann/phone',
  },
  overland: {
    name: 'Overland',
    steps: ['In the app: Settings → Receiver Endpoint URL: the address.', 'Enter a Device ID.'],
    identifier: 'the Device ID',
  },
  flespi: {
    name: 'flespi',
    steps: [
      'Telematics hub → Streams → new stream, protocol HTTP, with the address.',
      'Subscribe your channels or devices to it.',
    ],
    identifier: 'the ident',
  },
}

export const appText = {
  traccarClient: {
    name: 'Traccar Client',
    where:
      'In Settings, enter the address as Server URL or scan it. The id is the device identifier there.',
  },
  osmand: {
    name: 'OsmAnd',
    where: 'Plugins → Trip recording → Online tracking → Web address.',
  },
  gpsLogger: {
    name: 'GPSLogger',
    where: 'Logging details → Log to custom URL → URL, method GET.',
  },
  locus: {
    name: 'Locus Map',
    where:
      'Live tracking → Custom → URL, method GET. Leave the names of the parameters as they are.',
  },
  owntracks: { name: 'OwnTracks', where: '' },
  overland: { name: 'Overland', where: '' },
}
