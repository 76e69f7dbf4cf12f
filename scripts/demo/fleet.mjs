// The devices of the demo: what each is, and how it moves.
import { PACES } from '../../src/domain/sandbox/fleet.ts'
import { AIR, LAND, SEA } from './routes.mjs'

const member = (kind, group, model, medium) => (name, route, more) => ({
  name,
  kind,
  group,
  model,
  medium,
  route,
  ...PACES[kind],
  ...more,
})
const ship = member('ship', 'Ships', 'Sailor 6140', 'sea')
const boat = member('boat', 'Fishing', 'iTrac II', 'sea')
const truck = member('truck', 'Trucks', 'IDP-782', 'land')
const aircraft = member('aircraft', 'Aircraft', 'SkyRouter', 'air')
const team = member('team', 'Field teams', 'inReach Mini 2', 'land')
const buoy = member('buoy', 'Buoys', 'RockBLOCK 9603', 'sea')

/** A device is `ahead` hours along its route when the account is created. One with `silentHours` stopped
 * reporting that long before. */
const MEMBERS = [
  ship('Tern 7', SEA.azores, { ahead: 12 }),
  ship('Storm Petrel', SEA.canaries, { ahead: 6 }),
  ship('Atlântida', SEA.northSea, { ahead: 1, kmh: 26, pauseHours: 3 }),
  ship('Skagerrak Star', SEA.norway, { ahead: 9 }),
  ship('Ligure', SEA.ligurian, { ahead: 30 }),
  ship('Levantine', SEA.levant, { ahead: 20 }),
  ship('Bab el Mandeb', SEA.redSea, { ahead: 110 }),
  ship('Malacca Trader', SEA.malacca, { ahead: 40 }),
  ship('Pacific Heron', SEA.pacific, { ahead: 190 }),
  ship('Cape Albatross', SEA.southAtlantic, { ahead: 120 }),
  ship('Hudson Bridge', SEA.northAtlantic, { ahead: 100 }),
  ship('Gulf Pelican', SEA.gulf, { ahead: 50 }),
  ship('Tasman Gull', SEA.tasman, { ahead: 60 }),
  ship('Polar Fulmar', SEA.drake, { ahead: 15, kmh: 22 }),
  boat('Gannet', SEA.galicia, { ahead: 10 }),
  boat('Havørn', SEA.barents, { ahead: 8 }),
  truck('Truck 12', LAND.madrid, { ahead: 2 }),
  truck('Truck 15', LAND.bilbao, { ahead: 4 }),
  truck('Truck 21', LAND.rhone, { ahead: 7, silentHours: 30 }),
  truck('Truck 24', LAND.warsaw, { ahead: 3 }),
  truck('Truck 28', LAND.brenner, { ahead: 5, kmh: 68 }),
  truck('Truck 31', LAND.mombasa, { ahead: 1, kmh: 55 }),
  truck('Truck 33', LAND.atlas, { ahead: 2, kmh: 60 }),
  truck('Truck 40', LAND.denver, { ahead: 8, kmh: 92 }),
  truck('Truck 41', LAND.southwest, { ahead: 16, kmh: 94 }),
  truck('Truck 46', LAND.nullarbor, { ahead: 20, kmh: 88 }),
  truck('Truck 52', LAND.brasilia, { ahead: 6, kmh: 64 }),
  truck('Truck 57', LAND.mumbai, { ahead: 9, kmh: 48 }),
  aircraft('CS-DVP', AIR.madeira, { ahead: 0.9, kmh: 560 }),
  aircraft('N208PT', AIR.alaska, { ahead: 0.5, kmh: 300 }),
  aircraft('5Y-MED', AIR.kenya, { ahead: 1, kmh: 410 }),
  aircraft('VH-RFD', AIR.outback, { ahead: 1.6, kmh: 460 }),
  team('Field team north', LAND.geres, { ahead: 1.5, kmh: 2.2 }),
  team('Khumbu survey', LAND.khumbu, { ahead: 6, kmh: 1.8 }),
  team('Tassili expedition', LAND.tassili, { ahead: 4 }),
  team('Pantanal rangers', LAND.pantanal, { ahead: 5, kmh: 6 }),
  team('Yukon crew', LAND.yukon, { ahead: 3 }),
  buoy('Drifter 04', SEA.gyre, { ahead: 30 }),
  buoy('Drifter 09', SEA.coralSea, { ahead: 10 }),
  buoy('Old buoy', SEA.biscay, { ahead: 20, hasExpired: true, silentHours: 60 }),
]

/** Days after the first start on which devices expire, so that the license calendar has entries. */
const EXPIRES_IN_DAYS = {
  'Drifter 04': 9,
  'Pantanal rangers': 16,
  'Truck 57': 23,
  'Yukon crew': 23,
  'Polar Fulmar': 51,
  'Truck 46': 120,
}
/** Daily limits other than the default. The first shows what a suppressed message looks like. */
const LIMITS = {
  'Truck 15': { dailyEmailLimit: 2, dailySmsLimit: 1 },
  Gannet: { dailyEmailLimit: 50, dailySmsLimit: 10 },
}

const IDENTIFIER_PREFIX = '300534060'

export const FLEET = MEMBERS.map((one, index) => ({
  ...one,
  identifier: `${IDENTIFIER_PREFIX}${String((index + 1) * 10_061).padStart(6, '0')}`,
  expiresInDays: EXPIRES_IN_DAYS[one.name],
  limits: LIMITS[one.name],
}))

export const GROUPS = {
  Ships: 'Merchant ships on all oceans',
  Fishing: 'Fishing boats, tracked for the quota authority',
  Trucks: 'Long-distance road haulage',
  Aircraft: 'Regional and medical flights',
  'Field teams': 'People who work where no phone does',
  Buoys: 'Drifting instruments',
}
