import { readFileSync, writeFileSync } from 'node:fs'
import { SIZES, TOWNS_HEADER } from '../../src/domain/geo/towns.ts'

/*
 * Writes the towns that places are described by, from Natural Earth's “populated places, simple” of
 * 1:10m as GeoJSON: node scripts/build/towns.ts ne_10m_populated_places_simple.json
 */

const FILE = 'public/places/towns.txt'
const OMITTED = 'Historic place'
/** Names that the source has with a wrong character. */
const CORRECTED: Readonly<Record<string, string>> = {
  'AmundseniScott South Pole Station': 'Amundsen-Scott South Pole Station',
}

interface Town {
  properties: { name: string; featurecla: string; pop_max: number }
  /** The properties have places too, some of them wrong. */
  geometry: { coordinates: [longitude: number, latitude: number] }
}

const sizeOf = (people: number): number => SIZES.findLastIndex((least) => people >= least)

/** The largest first: of two that are as near as each other, the first is named. */
const makeTowns = (towns: Town[]): string =>
  [
    TOWNS_HEADER,
    ...towns
      .filter(({ properties }) => properties.featurecla !== OMITTED)
      .toSorted(
        ({ properties: a }, { properties: b }) =>
          b.pop_max - a.pop_max || (a.name < b.name ? -1 : 1),
      )
      .map(({ properties: { name, pop_max }, geometry: { coordinates } }) => {
        const place = coordinates.toReversed().map((degrees) => Number(degrees.toFixed(3)))
        return [CORRECTED[name] ?? name, ...place, Math.max(0, sizeOf(pop_max))].join('\t')
      }),
    '',
  ].join('\n')

const [source] = process.argv.slice(2)
if (!source) throw new Error('Name the GeoJSON file of Natural Earth.')
const { features } = JSON.parse(readFileSync(source, 'utf8'))
writeFileSync(FILE, makeTowns(features))
