import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { PageProps } from '../../app/routes.ts'
import { operatorText as words } from '../../text/operator.ts'
import { Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { DeleteCard } from '../account/DeleteCard.tsx'
import { LimitsCard } from '../account/LimitsCard.tsx'
import { MoveCard } from '../account/MoveCard.tsx'
import { Overview } from '../account/Overview.tsx'
import { StatusBadge } from '../account/StatusBadge.tsx'
import { StatusCard } from '../account/StatusCard.tsx'
import { SupportCard } from '../account/SupportCard.tsx'
import { UsageCard } from '../account/UsageCard.tsx'
import { operator } from '../operator.ts'

const parent = { href: '/operator', label: words.accounts.title }

/** One account: what it uses, what it may use, and what an operator can do with it. */
export const AccountPage = ({ params: { accountId = '' } }: PageProps) => {
  const loaded = useResource(
    async (signal) =>
      (await call('GET /admin/accounts/{accountId}', { params: { accountId }, signal })).account,
    [accountId],
  )
  const { data: account } = loaded
  if (!account)
    return (
      <Page title={words.accounts.title} parent={parent}>
        <Unloaded error={loaded.error} onRetry={loaded.reload} icon="group" />
      </Page>
    )
  const isDeleted = account.deletedAt !== null
  const onChanged = (changed: typeof account) => loaded.set(() => changed)
  const ending = <DeleteCard account={account} onChanged={onChanged} onDeleted={loaded.reload} />
  return (
    <Page title={account.name} parent={parent} lead={<StatusBadge account={account} />}>
      <div class="columns">
        {isDeleted && ending}
        <Overview account={account} onChanged={onChanged} />
        <StatusCard key={account.lastModified} account={account} onChanged={onChanged} />
        <LimitsCard account={account} onChanged={onChanged} />
        {operator.may('support') && !isDeleted && (
          <SupportCard account={account} onChanged={loaded.reload} />
        )}
        <MoveCard account={account} onMoved={loaded.reload} />
        {!isDeleted && ending}
      </div>
      <UsageCard account={account} />
    </Page>
  )
}
