import { call } from '../../api/client.ts'
import { usePages } from '../../api/resource.ts'
import type { Rule } from '../../api/types.ts'
import { canEditRules } from '../../api/watching.ts'
import { alertLabel, text } from '../../text/text.ts'
import { LinkButton } from '../../ui/Button.tsx'
import { type Column, Table } from '../../ui/list/Table.tsx'
import { Page } from '../../ui/Page.tsx'
import { Empty } from '../../ui/states.tsx'
import { RuleSwitch } from './RuleSwitch.tsx'
import { sentenceOf, useReferred } from './ruleNames.ts'
import './rules.css'

export default () => {
  const referred = useReferred()
  const pages = usePages<Rule>(async (cursor, signal) => {
    const { rules, nextCursor } = await call('GET /api/rules', { query: { cursor }, signal })
    return { items: rules, nextCursor }
  }, [])
  const replace = (rule: Rule) =>
    pages.set((items) => items.map((one) => (one.id === rule.id ? rule : one)))
  const columns: readonly Column<Rule>[] = [
    { key: 'name', label: text.rules.name, cell: ({ name }) => name },
    {
      key: 'sentence',
      label: text.rules.inWords,
      cell: (rule) => <span class="sentence">{sentenceOf(rule, referred.data)}</span>,
    },
    {
      key: 'alert',
      label: text.alerts.alert,
      cell: ({ alertName }) => alertLabel(alertName),
      isMinor: true,
    },
    {
      key: 'state',
      label: text.rules.state,
      cell: (rule) => <RuleSwitch rule={rule} onChange={replace} />,
    },
  ]
  const add = canEditRules() && (
    <LinkButton kind="primary" icon="plus" href="/rules/new">
      {text.rules.add}
    </LinkButton>
  )
  return (
    <Page title={text.rules.title} lead={text.rules.lead} actions={add}>
      <Table
        label={text.rules.title}
        columns={columns}
        pages={pages}
        rowKey={({ id }) => id}
        href={({ id }) => `/rules/${id}`}
        empty={
          <Empty icon="rule" title={text.rules.emptyTitle} action={add}>
            {text.rules.empty}
          </Empty>
        }
      />
    </Page>
  )
}
