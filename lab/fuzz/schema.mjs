// Checks values against the JSON Schema 2020-12 of the OpenAPI document, without the library that
// generated it. An unknown keyword is an error, so that nothing passes unchecked.
import { resolveReference } from '../harness/jsonReference.mjs'

const ANNOTATIONS = new Set([
  'description',
  'title',
  'default',
  'discriminator',
  'example',
  'examples',
  'readOnly',
  'writeOnly',
  'deprecated',
])

const typeOf = (value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)
const isType = (value, type) =>
  type === 'integer' ? Number.isInteger(value) : typeOf(value) === type
const lengthOf = (text) => [...text].length
const whenType = (type, check) => (value, pointer) =>
  typeOf(value) === type ? check(value, pointer) : null
const failUnless = (holds, rule) => (value, pointer) => (holds(value) ? null : { pointer, rule })
const firstFailure = (checks) => (value, pointer) => {
  for (const check of checks) {
    const failure = check(value, pointer)
    if (failure) return failure
  }
  return null
}
const escapeName = (name) => name.replaceAll('~', '~0').replaceAll('/', '~1')

const FORMATS = {
  'date-time': (text) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) &&
    !Number.isNaN(Date.parse(text)),
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && new Date(text).toJSON()?.slice(0, 10) === text,
  email: (text) => /^\S+@\S+$/.test(text),
  'idn-email': (text) => /^\S+@\S+$/.test(text),
  'json-pointer': (text) => /^(\/([^~/]|~[01])*)*$/.test(text),
  uri: (text) => URL.canParse(text),
  'uri-reference': (text) => URL.canParse(text, 'http://localhost'),
}

const KEYWORDS = {
  type: (types) =>
    failUnless(
      (value) => [types].flat().some((type) => isType(value, type)),
      `type ${[types].flat().join(' or ')}`,
    ),
  const: (only) =>
    failUnless(
      (value) => JSON.stringify(value) === JSON.stringify(only),
      `const ${JSON.stringify(only)}`,
    ),
  enum: (all) =>
    failUnless(
      (value) => all.some((one) => JSON.stringify(one) === JSON.stringify(value)),
      `enum ${all.join(', ')}`,
    ),
  minLength: (least) =>
    whenType(
      'string',
      failUnless((text) => lengthOf(text) >= least, `minLength ${least}`),
    ),
  maxLength: (most) =>
    whenType(
      'string',
      failUnless((text) => lengthOf(text) <= most, `maxLength ${most}`),
    ),
  pattern: (source) => {
    const pattern = new RegExp(source, 'u')
    return whenType(
      'string',
      failUnless((text) => pattern.test(text), `pattern ${source}`),
    )
  },
  format: (name) => {
    if (!FORMATS[name]) throw new Error(`lab/fuzz/schema.mjs does not support the format ${name}`)
    return whenType('string', failUnless(FORMATS[name], `format ${name}`))
  },
  minimum: (least) =>
    whenType(
      'number',
      failUnless((value) => value >= least, `minimum ${least}`),
    ),
  maximum: (most) =>
    whenType(
      'number',
      failUnless((value) => value <= most, `maximum ${most}`),
    ),
  exclusiveMinimum: (bound) =>
    whenType(
      'number',
      failUnless((value) => value > bound, `exclusiveMinimum ${bound}`),
    ),
  exclusiveMaximum: (bound) =>
    whenType(
      'number',
      failUnless((value) => value < bound, `exclusiveMaximum ${bound}`),
    ),
  minItems: (least) =>
    whenType(
      'array',
      failUnless((items) => items.length >= least, `minItems ${least}`),
    ),
  maxItems: (most) =>
    whenType(
      'array',
      failUnless((items) => items.length <= most, `maxItems ${most}`),
    ),
  uniqueItems: (wanted) =>
    whenType(
      'array',
      failUnless(
        (items) =>
          !wanted || new Set(items.map((item) => JSON.stringify(item))).size === items.length,
        'uniqueItems',
      ),
    ),
  items: (schema, compile) => {
    const check = compile(schema)
    return whenType('array', (items, pointer) =>
      firstFailure(items.map((_, index) => () => check(items[index], `${pointer}/${index}`)))(
        items,
        pointer,
      ),
    )
  },
  required: (names) =>
    whenType(
      'object',
      firstFailure(
        names.map((name) => failUnless((value) => Object.hasOwn(value, name), `required ${name}`)),
      ),
    ),
  dependentRequired: (rules) =>
    whenType(
      'object',
      firstFailure(
        Object.entries(rules).flatMap(([given, names]) =>
          names.map((name) =>
            failUnless(
              (value) => !Object.hasOwn(value, given) || Object.hasOwn(value, name),
              `${given} requires ${name}`,
            ),
          ),
        ),
      ),
    ),
  minProperties: (min) =>
    whenType(
      'object',
      failUnless((value) => Object.keys(value).length >= min, `minProperties ${min}`),
    ),
  maxProperties: (max) =>
    whenType(
      'object',
      failUnless((value) => Object.keys(value).length <= max, `maxProperties ${max}`),
    ),
  properties: (schemas, compile) => {
    const checks = Object.entries(schemas).map(([name, schema]) => [name, compile(schema)])
    const members = checks.map(
      ([name, check]) =>
        (value, pointer) =>
          Object.hasOwn(value, name) ? check(value[name], `${pointer}/${escapeName(name)}`) : null,
    )
    return whenType('object', firstFailure(members))
  },
  additionalProperties: (schema, compile, { properties = {} }) => {
    const check = compile(schema)
    const rest = (value) => Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
    return whenType('object', (value, pointer) =>
      firstFailure(
        rest(value).map((name) => () => check(value[name], `${pointer}/${escapeName(name)}`)),
      )(value, pointer),
    )
  },
  propertyNames: (schema, compile) => {
    const check = compile(schema)
    return whenType('object', (value, pointer) =>
      firstFailure(
        Object.keys(value).map((name) => () => check(name, `${pointer}/${escapeName(name)}`)),
      )(value, pointer),
    )
  },
  not: (schema, compile) => {
    const check = compile(schema)
    return (value, pointer) =>
      check(value, pointer) ? null : { pointer, rule: `not ${JSON.stringify(schema)}` }
  },
  allOf: (schemas, compile) => firstFailure(schemas.map(compile)),
  anyOf: (schemas, compile) => {
    const checks = schemas.map(compile)
    return (value, pointer) =>
      checks.some((check) => !check(value, pointer))
        ? null
        : { pointer, rule: `anyOf: ${describeNearest(checks, value, pointer)}` }
  },
  oneOf: (schemas, compile) => {
    const checks = schemas.map(compile)
    return (value, pointer) => {
      const matching = checks.filter((check) => !check(value, pointer)).length
      return matching === 1
        ? null
        : {
            pointer,
            rule:
              matching === 0
                ? `oneOf: ${describeNearest(checks, value, pointer)}`
                : `oneOf: ${matching} match`,
          }
    }
  },
}

/**
 * Describes the failure of the most likely option: the one that failed deepest, and not by its
 * discriminating constant.
 */
const describeNearest = (checks, value, pointer) => {
  const likelihood = (failure) =>
    failure.pointer.length + (failure.rule.startsWith('const ') ? 0 : 1000)
  const [nearest] = checks
    .map((check) => check(value, pointer))
    .sort((a, b) => likelihood(b) - likelihood(a))
  return `${nearest.rule} at ${nearest.pointer || '/'}`
}

/**
 * Compiles schemas of a document. A check returns null, or the pointer and the rule at which a
 * value failed.
 */
export function createCompiler(document) {
  const compiled = new Map()
  const compile = (schema) => {
    if (schema === true) return () => null
    if (schema === false) return (_, pointer) => ({ pointer, rule: 'not allowed' })
    if (!compiled.has(schema)) {
      // Stored before it is compiled, because a schema may refer to itself.
      let check
      compiled.set(schema, (value, pointer) => check(value, pointer))
      check = firstFailure(
        Object.entries(schema).flatMap(([keyword, rule]) => compileKeyword(keyword, rule, schema)),
      )
    }
    return compiled.get(schema)
  }
  const compileKeyword = (keyword, rule, schema) => {
    if (ANNOTATIONS.has(keyword)) return []
    if (keyword === '$ref') return [compile(resolveReference(document, rule))]
    if (!KEYWORDS[keyword])
      throw new Error(`lab/fuzz/schema.mjs does not support the keyword ${keyword}`)
    return [KEYWORDS[keyword](rule, compile, schema)]
  }
  return (schema) => {
    const check = compile(schema)
    return (value) => check(value, '')
  }
}
