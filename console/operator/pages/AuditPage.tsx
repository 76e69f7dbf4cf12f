import type { AuditEntry } from '../../api/types.ts'
import { place, setQuery } from '../../router/router.ts'
import { auditText } from '../../text/audit.ts'
import { operatorText as words } from '../../text/operator.ts'
import { AuditList } from '../../ui/audit/AuditList.tsx'
import { useDelayedInput } from '../../ui/form/delayedInput.ts'
import { TextField } from '../../ui/form/fields.tsx'
import type { Column } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'

const ACCOUNT: Column<AuditEntry> = {
  key: 'account',
  label: words.audit.account,
  cell: ({ account, accountName }) =>
    accountName ? (
      <a href={`/operator/accounts/${account}`}>{accountName}</a>
    ) : (
      <span class="muted">{account ?? words.audit.service}</span>
    ),
}

const KINDS = { ...auditText.kinds, ...words.audit.kinds }

/** Who did what, in all accounts. */
export const AuditPage = () => {
  const account = useDelayedInput(place.value.query.get('account') ?? '', (next) =>
    setQuery({ account: next.trim() }),
  )
  return (
    <Page title={auditText.title} lead={words.audit.lead}>
      <AuditList
        of="GET /admin/audit"
        kinds={KINDS}
        hrefOf={({ resource: { type, id }, accountName }) =>
          type === 'account' && accountName ? `/operator/accounts/${id}` : null
        }
        nameOf={({ resource, accountName }) => (resource.type === 'account' ? accountName : null)}
        columns={[ACCOUNT]}
      >
        <TextField
          label={words.audit.account}
          placeholder={words.audit.accountHint}
          value={account.typed}
          onInput={account.type}
          autocomplete="off"
        />
      </AuditList>
    </Page>
  )
}
