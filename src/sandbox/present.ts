import { iso, isoOrNull } from '../domain/time/iso.ts'
import type { OwnSandbox } from './store.ts'

export const presentOwn = ({ id, userName, name, creation, sandboxErasesAt }: OwnSandbox) => ({
  id,
  userName,
  name,
  creation: iso(creation),
  erasesAt: isoOrNull(sandboxErasesAt),
})
