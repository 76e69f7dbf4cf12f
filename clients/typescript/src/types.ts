import type { components, paths } from './schema.ts'

/* The types of calls, taken from those of the OpenAPI document. */

/** The objects of the API by name: `Schemas['Device']`. */
export type Schemas = components['schemas']
export type PerigeeEvent = Schemas['Event']
export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The paths that have an operation of this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends { [Key in M]: { responses: unknown } } ? P : never
}[keyof paths]

type Operation<M extends Method, P> = P extends keyof paths ? paths[P][M] : never

type PathOption<O> = O extends { parameters: { path: infer Value } } ? { path: Value } : object
type QueryOption<O> = O extends { parameters: { query: infer Value } }
  ? { query: Value }
  : O extends { parameters: { query?: infer Value } }
    ? { query?: Value | undefined }
    : object
type ContentOf<C> = C extends { 'application/json': infer Value } ? Value : Blob | Uint8Array
type BodyOption<O> = O extends { requestBody: { content: infer C } }
  ? { body: ContentOf<C> }
  : O extends { requestBody?: { content: infer C } }
    ? { body?: ContentOf<C> | undefined }
    : object

/** The JSON that an operation takes. */
export type Body<M extends Method, P> =
  BodyOption<Operation<M, P>> extends { body?: infer Value } ? Value : never

/** What the body of a reply becomes. */
export interface Parsed {
  text: string
  blob: Blob
  arrayBuffer: ArrayBuffer
  stream: ReadableStream<Uint8Array>
}

export interface CommonOptions {
  headers?: Record<string, string> | undefined
  signal?: AbortSignal | undefined
  /** A POST that only reads: it takes no `Idempotency-Key`, and may be repeated. */
  isQuery?: boolean | undefined
}

export type Options<M extends Method, P> = CommonOptions &
  PathOption<Operation<M, P>> &
  QueryOption<Operation<M, P>> &
  BodyOption<Operation<M, P>>

/** The options, which may be left out if the operation requires none. */
export type Arguments<M extends Method, P> =
  object extends Options<M, P> ? [options?: Options<M, P>] : [options: Options<M, P>]

/** The same for a reply that is not JSON, and how to read it. */
export type ParseOptions<M extends Method, P, As> = Options<M, P> & { parseAs: As }

type JsonOf<R> = R extends { content: { 'application/json': infer Value } } ? Value : never
type RepliesOf<O> = O extends { responses: infer R } ? R[keyof R & (200 | 201 | 202)] : never

/** The JSON of a reply that is a success. */
export type Reply<M extends Method, P> = JsonOf<RepliesOf<Operation<M, P>>>

type ArrayNames<R> = {
  [Name in keyof R]-?: R[Name] extends readonly unknown[] ? Name : never
}[keyof R]
/** True of one name; false of several, and of none. */
type IsOne<Name> = [Name] extends [never] ? false : IsUnion<Name> extends true ? false : true
type IsUnion<T, Whole = T> = T extends unknown ? ([Whole] extends [T] ? false : true) : never

/** The paths whose reply has one array. */
export type ListPath = {
  [P in PathOf<'get'>]: IsOne<ArrayNames<Reply<'get', P>>> extends true ? P : never
}[PathOf<'get'>]

/** What that array has. */
export type Item<P extends ListPath> = Reply<'get', P>[ArrayNames<
  Reply<'get', P>
>] extends readonly (infer Value)[]
  ? Value
  : never
