import type { OperatedAccount } from '../../api/types.ts'
import { operatorText as words } from '../../text/operator.ts'
import { Badge } from '../../ui/Page.tsx'

const KINDS = {
  active: 'good',
  notice: 'info',
  readOnly: 'warn',
  ingestOnly: 'warn',
  disabled: 'bad',
} as const

type Shown = Pick<OperatedAccount, 'status' | 'deletedAt'>

export const StatusBadge = ({ account: { status, deletedAt } }: { account: Shown }) =>
  deletedAt === null ? (
    <Badge kind={KINDS[status]}>{words.states[status]}</Badge>
  ) : (
    <Badge kind="bad">{words.states.deleted}</Badge>
  )
