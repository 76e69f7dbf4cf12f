import { useEffect, useState } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { wholeTargets } from '../../api/changes.ts'
import { call } from '../../api/client.ts'
import { useAction } from '../../api/resource.ts'
import { saveChanges } from '../../api/saveChanges.ts'
import type { Rule } from '../../api/types.ts'
import { setLeaveGuard } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Choices } from '../../ui/form/Choices.tsx'
import { DevicePicker } from '../../ui/form/DevicePicker.tsx'
import { bindFields, useDraft } from '../../ui/form/draft.ts'
import { Form } from '../../ui/form/Form.tsx'
import { FieldError, SeveralField } from '../../ui/form/fieldGroups.tsx'
import { choicesOf, TextField } from '../../ui/form/fields.tsx'
import { Card } from '../../ui/Page.tsx'
import { toast } from '../../ui/toast.tsx'
import { AlertFields, TuningFields } from './AlertFields.tsx'
import { ConditionFields } from './ConditionFields.tsx'
import {
  describedRuleOf,
  EMPTY_RULE,
  lacksTarget,
  type RuleDraft,
  ruleBodyOf,
  ruleDraftOf,
} from './ruleDraft.ts'
import { namesOf, type Referred } from './ruleNames.ts'
import { ScheduleFields } from './ScheduleFields.tsx'
import { describeRule } from './sentence.ts'

const MAX_TARGETS = 1000
const SCOPES = ['all', 'some'] as const

export interface RulePartProps {
  draft: RuleDraft
  change: (changes: Partial<RuleDraft>) => void
  error: PerigeeError | null
}

type TargetsProps = RulePartProps & { groups: Referred['groups']; isChecked: boolean }

const Targets = ({ groups, isChecked, ...part }: TargetsProps) => {
  const { draft, change } = part
  const bind = bindFields(part)
  return (
    <Card title={later.rules.forWhom}>
      <div class="stack">
        <Choices
          label={later.rules.forWhom}
          isLabelHidden
          value={draft.scope}
          choices={choicesOf(SCOPES, later.rules.scopes)}
          onChange={(scope) => change({ scope })}
        />
        {draft.scope === 'some' && (
          <>
            {isChecked && lacksTarget(draft) && (
              <p class="field-error" role="alert">
                {later.rules.noTarget}
              </p>
            )}
            {groups.length > 0 && (
              <SeveralField
                label={later.rules.groups}
                options={groups.map(({ id, name }) => ({ value: id, label: name }))}
                {...bind.several('groups')}
              />
            )}
            <DevicePicker
              label={later.rules.devices}
              maxCount={MAX_TARGETS}
              {...bind.several('devices')}
            />
          </>
        )}
      </div>
    </Card>
  )
}

interface RuleFormProps {
  rule: Rule | null
  referred: Referred
  onStored: (rule: Rule) => void
  onDirty?: (isDirty: boolean) => void
}

export const RuleForm = ({ rule, referred, onStored, onDirty }: RuleFormProps) => {
  const { draft, change, stored, isDirty, markSaved } = useDraft<RuleDraft>(() =>
    rule ? ruleDraftOf(rule) : EMPTY_RULE,
  )
  const [isChecked, setIsChecked] = useState(false)
  useEffect(() => onDirty?.(isDirty), [isDirty])
  const save = useAction(async () => {
    const body = ruleBodyOf(draft)
    if (rule) {
      const before = ruleBodyOf(stored)
      const reply = await saveChanges('/api/rules/{ruleId}', {
        params: { ruleId: rule.id },
        before,
        after: body,
        read: ({ rule: current }) => ruleBodyOf(ruleDraftOf(current)),
        // Merging would mix the members of two conditions.
        whole: (current) => ['when', ...wholeTargets(before, body, current)],
      })
      markSaved()
      toast(text.common.saved)
      onStored(reply.rule)
    } else {
      // Switched off, until it was tried.
      const reply = await call('POST /api/rules', { body: { ...body, enabled: false } })
      setLeaveGuard(null)
      onStored(reply.rule)
    }
  })
  const { error } = save
  const part = { draft, change, error }
  const submit = () => {
    setIsChecked(true)
    if (!lacksTarget(draft)) void save.run()
  }
  return (
    <Form
      submitLabel={rule ? text.common.save : later.rules.create}
      {...(!rule && { cancelHref: '/rules' })}
      onSubmit={submit}
      action={save}
      canSubmit={!rule || isDirty}
    >
      <div class="rule-preview">
        <Card title={later.rules.inWords}>
          <output class="sentence preview">
            {describeRule(describedRuleOf(draft), namesOf(referred))}
          </output>
        </Card>
      </div>
      <Card>
        <TextField
          label={later.rules.name}
          {...bindFields(part).text('name')}
          maxLength={200}
          required
          autofocus={!rule}
        />
      </Card>
      <Targets {...part} groups={referred.groups} isChecked={isChecked} />
      <Card title={later.rules.when}>
        <ConditionFields
          typed={draft.when}
          onChange={(when) => change({ when })}
          zones={referred.zones}
          error={error}
        />
        <FieldError label={later.rules.when} pointer="/when" error={error} />
      </Card>
      <ScheduleFields {...part} />
      <AlertFields {...part} />
      <TuningFields {...part} />
    </Form>
  )
}
