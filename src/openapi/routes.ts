import type { RouterRoute } from 'hono/types'
import type { Operation } from '../http/contract/contract.ts'
import { operationOf } from '../http/contract/operation.ts'

export interface ContractedRoute {
  method: string
  path: string
  contract: Operation
}

export interface Router {
  routes: RouterRoute[]
}

export const contractedRoutes = ({ routes }: Router): ContractedRoute[] =>
  routes.flatMap(({ method, path, handler }) => {
    const contract = operationOf(handler)
    return contract ? [{ method, path, contract }] : []
  })

/** A contract at two paths is one operation, documented at the first path. */
export const documentedRoutes = (app: Router): ContractedRoute[] => {
  const routes = contractedRoutes(app)
  return routes.filter(
    ({ contract }, at) => routes.findIndex((route) => route.contract === contract) === at,
  )
}
