import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import type { Rule } from '../../api/types.ts'
import { canEditRules } from '../../api/zonesAndRules.ts'
import { later } from '../../text/later.ts'
import { Switch } from '../../ui/form/Switch.tsx'
import { Badge } from '../../ui/Page.tsx'
import { Refusal } from '../../ui/states.tsx'
import { toast } from '../../ui/toast.tsx'

interface RuleSwitchProps {
  rule: Rule
  onChange: (rule: Rule) => void
}

/** Switches a rule on or off. */
export const switchRule = async ({ rule, onChange }: RuleSwitchProps, enabled: boolean) => {
  const params = { ruleId: rule.id }
  const reply = await call('PATCH /api/rules/{ruleId}', { params, body: { enabled } })
  onChange(reply.rule)
  toast(enabled ? later.rules.switchedOn : later.rules.switchedOff)
}

export const RuleSwitch = (props: RuleSwitchProps) => {
  const { rule } = props
  const change = useAction((enabled: boolean) => switchRule(props, enabled))
  const word = rule.enabled ? later.rules.on : later.rules.off
  if (!canEditRules()) return <Badge kind={rule.enabled ? 'good' : 'plain'}>{word}</Badge>
  return (
    <>
      <Switch
        label={later.rules.switch(rule.name)}
        isOn={rule.enabled}
        disabled={change.isPending}
        onChange={(enabled) => change.run(enabled)}
      >
        {word}
      </Switch>
      {change.error && <Refusal error={change.error} />}
    </>
  )
}
