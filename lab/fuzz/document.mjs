import { dereferenced } from '../harness/jsonReference.mjs'
import { createCompiler } from './schema.mjs'

const METHODS = ['get', 'post', 'put', 'patch', 'delete']

/** The operations of the OpenAPI document, with a check for every body and reply. */
export function readDocument(document) {
  const compile = createCompiler(document)
  const follow = (node) => dereferenced(document, node)

  const readHeader = (name, { required = false, schema }) => ({
    name,
    required,
    check: compile(schema),
  })
  const readReply = (node) => {
    const { headers = {}, content = {}, links = {} } = follow(node)
    const types = Object.entries(content).map(([type, { schema, examples = {} }]) => [
      type,
      { check: schema ? compile(schema) : () => null, codes: Object.keys(examples) },
    ])
    return {
      headers: Object.entries(headers).map(([name, header]) => readHeader(name, follow(header))),
      links: Object.values(links),
      types: Object.fromEntries(types),
    }
  }
  const readBodies = (body) =>
    // What is not text, such as an archive, is tested elsewhere.
    Object.entries(follow(body)?.content ?? {})
      .filter(([, { schema }]) => schema.format !== 'binary')
      .map(([type, { schema, examples = {} }]) => ({
        type,
        schema,
        examples: Object.values(examples).map(({ value }) => value),
        check: compile(schema),
      }))

  const readOperation = (path, method, operation) => {
    const parameters = (operation.parameters ?? []).map(follow)
    const parametersIn = (place) => parameters.filter((parameter) => parameter.in === place)
    return {
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      security: (operation.security ?? document.security ?? []).flatMap(Object.keys),
      scopes: (operation.security ?? []).flatMap((one) => Object.values(one).flat()),
      pathParameters: parametersIn('path'),
      query: parametersIn('query').map((one) => ({ ...one, check: compile(one.schema) })),
      headers: parametersIn('header').map(({ name }) => name),
      bodies: readBodies(operation.requestBody),
      bodyRequired: follow(operation.requestBody)?.required ?? false,
      replies: Object.fromEntries(
        Object.entries(operation.responses).map(([status, node]) => [status, readReply(node)]),
      ),
    }
  }

  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) =>
      readOperation(path, method, item[method]),
    ),
  )
  return {
    operations,
    follow,
    checkProblem: compile(document.components.schemas.Problem),
    prefixes: listIdPrefixes(operations),
  }
}

/** The path parameter for each prefix of ids: `dev_…` is a `deviceId`. */
function listIdPrefixes(operations) {
  const pairs = operations.flatMap(({ pathParameters }) =>
    pathParameters.flatMap(({ name, schema }) => {
      const prefix = /^([a-z]+_)/.exec(schema.examples?.[0] ?? '')?.[1]
      return prefix ? [[prefix, name]] : []
    }),
  )
  return new Map(pairs)
}
