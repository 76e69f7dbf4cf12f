import { useList } from '../../api/list.ts'
import type { Rule } from '../../api/types.ts'
import { canEditRules } from '../../api/zonesAndRules.ts'
import { later } from '../../text/later.ts'
import { alertLabel, text } from '../../text/text.ts'
import { ListPage } from '../../ui/list/ListPage.tsx'
import type { Column } from '../../ui/list/Table.tsx'
import { RuleSwitch } from './RuleSwitch.tsx'
import { sentenceOf, useReferred } from './ruleNames.ts'
import './rules.css'

export default () => {
  const referred = useReferred()
  const pages = useList('GET /api/rules', 'rules')
  const replace = (rule: Rule) =>
    pages.set((items) => items.map((one) => (one.id === rule.id ? rule : one)))
  const columns: readonly Column<Rule>[] = [
    { key: 'name', label: later.rules.name, cell: ({ name }) => name },
    {
      key: 'sentence',
      label: later.rules.inWords,
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
      label: later.rules.state,
      cell: (rule) => <RuleSwitch rule={rule} onChange={replace} />,
    },
  ]
  return (
    <ListPage
      words={{ ...later.rules, title: text.rules.title }}
      icon="rule"
      path="/rules"
      columns={columns}
      pages={pages}
      canAdd={canEditRules()}
    />
  )
}
