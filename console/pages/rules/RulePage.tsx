import { useState } from 'preact/hooks'
import { call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { Rule } from '../../api/types.ts'
import { canEditRules } from '../../api/zonesAndRules.ts'
import type { PageProps } from '../../app/routes.ts'
import { navigate } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { WhoChanged } from '../../ui/audit/WhoChanged.tsx'
import { DeleteButton } from '../../ui/dialog/ConfirmButton.tsx'
import { NotAllowed } from '../../ui/NotAllowed.tsx'
import { Card, Page } from '../../ui/Page.tsx'
import { Unloaded } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'
import { RuleForm } from './RuleForm.tsx'
import { RuleSwitch } from './RuleSwitch.tsx'
import { type Referred, sentenceOf, useReferred } from './ruleNames.ts'
import './rules.css'
import { TryRule } from './TryRule.tsx'

const parent = { href: '/rules', label: text.rules.title }

const DeleteRule = ({ rule }: { rule: Rule }) => (
  <DeleteButton
    title={later.rules.deleteTitle(rule.name)}
    confirmLabel={later.rules.deleteConfirm}
    question={later.rules.deleteQuestion}
    onDelete={() => call('DELETE /api/rules/{ruleId}', { params: { ruleId: rule.id } })}
    deleted={later.rules.deleted(rule.name)}
    href="/rules"
  />
)

interface LoadedProps {
  rule: Rule
  referred: Referred
  onChange: (rule: Rule) => void
}

const Loaded = ({ rule, referred, onChange }: LoadedProps) => {
  const [isDirty, setIsDirty] = useState(false)
  return (
    <Page
      title={rule.name}
      parent={parent}
      lead={rule.enabled ? undefined : later.rules.offNote}
      actions={
        <>
          <RuleSwitch rule={rule} onChange={onChange} />
          {canEditRules() && <DeleteRule rule={rule} />}
        </>
      }
    >
      <div class="rule-columns">
        {canEditRules() ? (
          <RuleForm rule={rule} referred={referred} onStored={onChange} onDirty={setIsDirty} />
        ) : (
          <Card title={later.rules.inWords}>
            <p class="sentence">{sentenceOf(rule, referred)}</p>
          </Card>
        )}
        <TryRule rule={rule} zones={referred.zones} isDirty={isDirty} onChange={onChange} />
      </div>
      <WhoChanged id={rule.id} />
    </Page>
  )
}

export default ({ params: { ruleId = '' } }: PageProps) => {
  const isNew = ruleId === 'new'
  const referred = useReferred()
  const rule = useResource<Rule | null>(
    async (signal) =>
      isNew ? null : (await call('GET /api/rules/{ruleId}', { params: { ruleId }, signal })).rule,
    [ruleId],
  )
  if (!referred.data || (!isNew && !rule.data))
    return (
      <Page title={text.rules.rule} parent={parent}>
        <Unloaded
          error={rule.error ?? referred.error}
          onRetry={rule.error ? rule.reload : referred.reload}
          icon="rule"
        />
      </Page>
    )
  if (!rule.data && !canEditRules()) return <NotAllowed />
  if (!rule.data)
    return (
      <Page title={later.rules.add} parent={parent}>
        <RuleForm
          rule={null}
          referred={referred.data}
          onStored={({ id }) => {
            toast(later.rules.created)
            navigate(`/rules/${id}`)
          }}
        />
      </Page>
    )
  return (
    <Loaded
      key={rule.data.id}
      rule={rule.data}
      referred={referred.data}
      onChange={(changed) => rule.set(() => changed)}
    />
  )
}
