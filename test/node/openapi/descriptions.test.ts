import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { oas31 } from 'zod-openapi'
import { MEMBER_TEXTS } from '../../../src/openapi/schemas/memberTexts.ts'
import { resolved } from '../../support/openapi.ts'

const text = readFileSync('public/api/openapi.json', 'utf8')
const document = JSON.parse(text) as oas31.OpenAPIObject
const { schemas = {}, parameters = {}, headers = {} } = document.components ?? {}

/** More than the default that the document adds. */
const isDescribed = (node: object): boolean => {
  const { description } = node as { description?: string }
  const target = resolved<{ description?: string }>(document, node)
  return /^(?!Default:)./.test(description ?? target.description ?? '')
}

const undescribed = (node: unknown, at: string): string[] => {
  if (typeof node !== 'object' || node === null) return []
  const { properties = {}, examples: _, not: __, ...others } = node as oas31.SchemaObject
  return [
    ...Object.entries(properties).flatMap(([name, member]) => [
      ...(isDescribed(member) ? [] : [`${at}.${name}`]),
      ...undescribed(member, `${at}.${name}`),
    ]),
    ...Object.values(others).flatMap((part) => undescribed(part, at)),
  ]
}

test('every member of every schema has a description', () => {
  const found = Object.entries(schemas).flatMap(([name, schema]) => undescribed(schema, name))
  expect(found).toEqual([])
})

/** The descriptions of `alerts` in every object that is a location. */
const alertsOfLocations = (node: unknown): string[] => {
  if (typeof node !== 'object' || node === null) return []
  const { properties = {} } = node as { properties?: Record<string, { description?: string }> }
  const own = 'battery' in properties && 'alerts' in properties
  return [
    ...(own ? [properties.alerts?.description ?? ''] : []),
    ...Object.values(node).flatMap(alertsOfLocations),
  ]
}

test('the alerts of a location are those that its device reports, wherever it stands', () => {
  const found = alertsOfLocations(schemas)
  expect(found.length).toBeGreaterThan(3)
  expect(found.filter((one) => !one.includes('with this location'))).toEqual([])
})

test('every parameter and every header has a description', () => {
  const operations = Object.values(document.paths ?? {}).flatMap(
    (item) => Object.values(item) as oas31.OperationObject[],
  )
  const given = operations.flatMap((operation) => operation.parameters ?? [])
  const all = [...given, ...Object.values(parameters), ...Object.values(headers)]
  expect(all.filter((node) => !isDescribed(node))).toEqual([])
})

test('every text of the table is used', () => {
  const unused = Object.entries(MEMBER_TEXTS).filter(
    ([, one]) => !text.includes(JSON.stringify(one).slice(1, -1)),
  )
  expect(unused.map(([key]) => key)).toEqual([])
})
