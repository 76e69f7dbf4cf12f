// JSON Schema 2020-12 as the published document uses it, checked without the library that made it.
// A keyword that is not known here is an error: nothing passes because it was not looked at.

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
const ofType = (type, check) => (value, at) => (typeOf(value) === type ? check(value, at) : null)
const ruled = (holds, rule) => (value, at) => (holds(value) ? null : { at, rule })
const firstOf = (checks) => (value, at) => {
  for (const check of checks) {
    const found = check(value, at)
    if (found) return found
  }
  return null
}
const escaped = (name) => name.replaceAll('~', '~0').replaceAll('/', '~1')

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
    ruled(
      (value) => [types].flat().some((type) => isType(value, type)),
      `type ${[types].flat().join(' or ')}`,
    ),
  const: (only) =>
    ruled(
      (value) => JSON.stringify(value) === JSON.stringify(only),
      `const ${JSON.stringify(only)}`,
    ),
  enum: (all) =>
    ruled(
      (value) => all.some((one) => JSON.stringify(one) === JSON.stringify(value)),
      `enum ${all.join(', ')}`,
    ),
  minLength: (least) =>
    ofType(
      'string',
      ruled((text) => lengthOf(text) >= least, `minLength ${least}`),
    ),
  maxLength: (most) =>
    ofType(
      'string',
      ruled((text) => lengthOf(text) <= most, `maxLength ${most}`),
    ),
  pattern: (source) => {
    const pattern = new RegExp(source, 'u')
    return ofType(
      'string',
      ruled((text) => pattern.test(text), `pattern ${source}`),
    )
  },
  format: (name) => {
    if (!FORMATS[name]) throw new Error(`the format ${name} is not known to lab/fuzz/schema.mjs`)
    return ofType('string', ruled(FORMATS[name], `format ${name}`))
  },
  minimum: (least) =>
    ofType(
      'number',
      ruled((value) => value >= least, `minimum ${least}`),
    ),
  maximum: (most) =>
    ofType(
      'number',
      ruled((value) => value <= most, `maximum ${most}`),
    ),
  exclusiveMinimum: (bound) =>
    ofType(
      'number',
      ruled((value) => value > bound, `exclusiveMinimum ${bound}`),
    ),
  exclusiveMaximum: (bound) =>
    ofType(
      'number',
      ruled((value) => value < bound, `exclusiveMaximum ${bound}`),
    ),
  minItems: (least) =>
    ofType(
      'array',
      ruled((items) => items.length >= least, `minItems ${least}`),
    ),
  maxItems: (most) =>
    ofType(
      'array',
      ruled((items) => items.length <= most, `maxItems ${most}`),
    ),
  uniqueItems: (wanted) =>
    ofType(
      'array',
      ruled(
        (items) =>
          !wanted || new Set(items.map((item) => JSON.stringify(item))).size === items.length,
        'uniqueItems',
      ),
    ),
  items: (schema, compile) => {
    const check = compile(schema)
    return ofType('array', (items, at) =>
      firstOf(items.map((_, index) => () => check(items[index], `${at}/${index}`)))(items, at),
    )
  },
  required: (names) =>
    ofType(
      'object',
      firstOf(
        names.map((name) => ruled((value) => Object.hasOwn(value, name), `required ${name}`)),
      ),
    ),
  dependentRequired: (rules) =>
    ofType(
      'object',
      firstOf(
        Object.entries(rules).flatMap(([given, names]) =>
          names.map((name) =>
            ruled(
              (value) => !Object.hasOwn(value, given) || Object.hasOwn(value, name),
              `${given} requires ${name}`,
            ),
          ),
        ),
      ),
    ),
  minProperties: (least) =>
    ofType(
      'object',
      ruled((value) => Object.keys(value).length >= least, `minProperties ${least}`),
    ),
  maxProperties: (most) =>
    ofType(
      'object',
      ruled((value) => Object.keys(value).length <= most, `maxProperties ${most}`),
    ),
  properties: (schemas, compile) => {
    const checks = Object.entries(schemas).map(([name, schema]) => [name, compile(schema)])
    const members = checks.map(
      ([name, check]) =>
        (value, at) =>
          Object.hasOwn(value, name) ? check(value[name], `${at}/${escaped(name)}`) : null,
    )
    return ofType('object', firstOf(members))
  },
  additionalProperties: (schema, compile, { properties = {} }) => {
    const check = compile(schema)
    const rest = (value) => Object.keys(value).filter((name) => !Object.hasOwn(properties, name))
    return ofType('object', (value, at) =>
      firstOf(rest(value).map((name) => () => check(value[name], `${at}/${escaped(name)}`)))(
        value,
        at,
      ),
    )
  },
  propertyNames: (schema, compile) => {
    const check = compile(schema)
    return ofType('object', (value, at) =>
      firstOf(Object.keys(value).map((name) => () => check(name, `${at}/${escaped(name)}`)))(
        value,
        at,
      ),
    )
  },
  allOf: (schemas, compile) => firstOf(schemas.map(compile)),
  anyOf: (schemas, compile) => {
    const checks = schemas.map(compile)
    return (value, at) =>
      checks.some((check) => !check(value, at))
        ? null
        : { at, rule: `anyOf: ${nearest(checks, value, at)}` }
  },
  oneOf: (schemas, compile) => {
    const checks = schemas.map(compile)
    return (value, at) => {
      const fitting = checks.filter((check) => !check(value, at)).length
      return fitting === 1
        ? null
        : {
            at,
            rule: fitting === 0 ? `oneOf: ${nearest(checks, value, at)}` : `oneOf: ${fitting} fit`,
          }
    }
  },
}

/** The option that was meant is most likely the one that went wrong deepest inside, and not by the constant that tells options apart. */
const nearest = (checks, value, at) => {
  const near = ({ at: place, rule }) => place.length + (rule.startsWith('const ') ? 0 : 1000)
  const found = checks.map((check) => check(value, at)).sort((a, b) => near(b) - near(a))[0]
  return `${found.rule} at ${found.at || '/'}`
}

/** Compiles schemas of one document. A check answers null, or where a value failed and by which rule. */
export function compiler(document) {
  const known = new Map()
  const compile = (schema) => {
    if (schema === true) return () => null
    if (schema === false) return (_, at) => ({ at, rule: 'not allowed' })
    if (!known.has(schema)) {
      // Set before it is made: a schema may speak of itself.
      let check
      known.set(schema, (value, at) => check(value, at))
      check = firstOf(
        Object.entries(schema).flatMap(([keyword, rule]) => keywordCheck(keyword, rule, schema)),
      )
    }
    return known.get(schema)
  }
  const keywordCheck = (keyword, rule, schema) => {
    if (ANNOTATIONS.has(keyword)) return []
    if (keyword === '$ref') return [compile(resolve(document, rule))]
    if (!KEYWORDS[keyword])
      throw new Error(`the keyword ${keyword} is not known to lab/fuzz/schema.mjs`)
    return [KEYWORDS[keyword](rule, compile, schema)]
  }
  return (schema) => {
    const check = compile(schema)
    return (value) => check(value, '')
  }
}

/** What a reference leads to. */
export const resolve = (document, reference) =>
  reference
    .slice(2)
    .split('/')
    .reduce((at, name) => at[name.replaceAll('~1', '/').replaceAll('~0', '~')], document)

export const dereferenced = (document, node) => (node?.$ref ? resolve(document, node.$ref) : node)
