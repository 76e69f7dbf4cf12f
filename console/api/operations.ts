import type { Body, Method, PathOf, Reply } from '../../clients/typescript/src/types.ts'

type NameOf<M extends Method> = `${Uppercase<M>} ${PathOf<M>}`
/** `GET /api/devices/{deviceId}` and so on. */
export type OperationName = { [M in Method]: NameOf<M> }[Method]

type Described<M extends string, P> =
  Lowercase<M> extends infer Lower extends Method
    ? { body: Body<Lower, P>; reply: Reply<Lower, P> }
    : never

/** What each operation takes and replies. */
export type Operations = {
  [Name in OperationName]: Name extends `${infer M} ${infer P}` ? Described<M, P> : never
}
