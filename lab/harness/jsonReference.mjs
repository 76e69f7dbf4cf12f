/** The node of the document that a `$ref` points to. */
export const resolveReference = (document, reference) =>
  reference
    .slice(2)
    .split('/')
    .reduce((node, name) => node[name.replaceAll('~1', '/').replaceAll('~0', '~')], document)

/** The node itself, or the one that its `$ref` points to. */
export const dereferenced = (document, node) =>
  node?.$ref ? resolveReference(document, node.$ref) : node
