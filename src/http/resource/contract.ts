import * as z from 'zod'
import type { Operation } from '../contract/contract.ts'
import type { ProblemCode } from '../contract/problem.ts'
import { done, success } from '../contract/wire.ts'
import { nextCursor, pageQuery } from '../paging/page.ts'

type Access = Pick<Operation, 'scope' | 'wholeAccount'>
type Extras = Partial<Pick<Operation, 'description' | 'problems' | 'example'>>

type Shape = Readonly<Record<string, z.ZodType>>
type Outputs<S extends Shape> = { [K in keyof S]: z.output<S[K]> }
type Members<Shown> = z.ZodType<Shown> & { readonly shape: object }

interface Form<Name, Plural, Shown, Body, Filters, Once> {
  /** What operations, problems and bodies call it: `zone` → `listZones`, `zone-not-found`. */
  name: Name
  /** Where it is not the name with an s. */
  plural?: Plural
  tag: string
  reading: Access
  writing: Access
  /** As replies show it. */
  schema: Members<Shown>
  /** As POST and PUT take it. Members that only replies have are ignored there. */
  body: z.ZodType<Body> & ({ readonly shape: object } | { readonly in: { readonly shape: object } })
  /** Further members that are ignored. */
  ignored?: readonly string[]
  /** Whether its members are beside `success` instead of under its name. */
  isFlat?: true
  /** Members that only the reply to POST has, for secrets. */
  shownOnce?: Once
  list?: Extras & {
    filters?: Filters
    /** What the list's member is. */
    about?: string
  }
  create?: Extras
  /** PUT and PATCH. */
  edit?: Pick<Extras, 'problems'>
  replace?: Extras
  patch?: Extras
  remove?: Extras
}

/** A reply with one of them. Where it is flat, only `resourceRoutes` replies. */
interface One<Name extends string, Shown, Once = unknown> {
  reply: z.ZodType<{ success: true } & Record<Name, Shown> & Once>
}

/** The contracts of a resource, as `resourceRoutes` serves them. */
export interface Resource<
  Name extends string,
  Shown,
  Body,
  Query,
  Once,
  Plural extends string = `${Name}s`,
> {
  name: Name
  plural: Plural
  isFlat: boolean
  list: Operation & {
    query: z.ZodType<Query>
    reply: z.ZodType<{ success: true; nextCursor: string | null } & Record<Plural, Shown[]>>
  }
  create: Operation & One<Name, Shown, Once> & { body: z.ZodType<Body> }
  read: Operation & One<Name, Shown>
  replace: Operation & One<Name, Shown> & { body: z.ZodType<Body> }
  patch: Operation & One<Name, Shown> & { patches: Operation }
  remove: Operation
}

const capitalize = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** The contracts of what can be listed, created, read, replaced, patched and deleted. */
export const resource = <
  const Name extends string,
  Shown,
  Body,
  Filters extends Shape = Record<never, never>,
  Once extends Shape = Record<never, never>,
  const Plural extends string = `${Name}s`,
>(
  form: Form<Name, Plural, Shown, Body, Filters, Once>,
): Resource<Name, Shown, Body, Outputs<typeof pageQuery & Filters>, Outputs<Once>, Plural> => {
  const { name, plural = `${form.name}s`, tag, schema, body, isFlat = false, shownOnce } = form
  const title = capitalize(name)
  const notFound = `${name}-not-found` as ProblemCode
  const reading = { tag, ...form.reading }
  const writing = { tag, ...form.writing }
  const reply = isFlat
    ? z.intersection(schema, done).meta({ id: `${title}Reply` })
    : z.object({ success, [name]: schema })
  const { shape } = 'in' in body ? body.in : body
  const serverMembers = Object.keys(schema.shape).filter((member) => !(member in shape))
  const written = {
    body,
    ...(!isFlat && { wrapper: name }),
    ignored: ['success', ...serverMembers, ...(form.ignored ?? [])],
  }
  const edited = {
    ...writing,
    reply,
    etag: true,
    ifMatch: true,
    problems: [notFound, ...(form.edit?.problems ?? []), 'conflict'],
  } as const
  const { filters, about, ...list } = form.list ?? {}
  const rows = z.array(schema)
  const replace = {
    id: `replace${title}`,
    summary: `Replace a ${name}`,
    ...edited,
    ...written,
    ...form.replace,
  }
  return {
    name,
    plural,
    isFlat,
    list: {
      id: `list${capitalize(plural)}`,
      summary: `List ${plural}`,
      ...reading,
      query: z.strictObject({ ...pageQuery, ...filters }),
      reply: z.object({
        success,
        [plural]: about ? rows.meta({ description: about }) : rows,
        nextCursor,
      }),
      ...list,
    },
    create: {
      id: `create${title}`,
      summary: `Create a ${name}`,
      ...writing,
      ...written,
      status: 201,
      etag: true,
      idempotent: true,
      reply: shownOnce
        ? z.object({ success, [name]: schema, ...shownOnce }).meta({ id: `New${title}Reply` })
        : reply,
      ...(shownOnce && { secrets: Object.keys(shownOnce) }),
      ...form.create,
    },
    read: {
      id: `read${title}`,
      summary: `Read a ${name}`,
      ...reading,
      reply,
      etag: true,
      problems: [notFound],
    },
    replace,
    patch: {
      id: `patch${title}`,
      summary: `Change a ${name}`,
      ...edited,
      patches: replace,
      ...form.patch,
    },
    remove: {
      id: `delete${title}`,
      summary: `Delete a ${name}`,
      ...writing,
      reply: done,
      ifMatch: true,
      ...form.remove,
      problems: [notFound, ...(form.remove?.problems ?? [])],
    },
    // The names are computed: the compiler knows them by `Resource` alone.
  } as never
}
