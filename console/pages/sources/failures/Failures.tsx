import { useState } from 'preact/hooks'
import type { Pages } from '../../../api/resource.ts'
import type { Source } from '../../../api/types.ts'
import { later } from '../../../text/later.ts'
import { text } from '../../../text/text.ts'
import { Button } from '../../../ui/Button.tsx'
import { type Column, Table } from '../../../ui/list/Table.tsx'
import { Empty } from '../../../ui/states.tsx'
import { Time } from '../../../ui/Time.tsx'
import type { Failure } from '../sourceLists.ts'
import { PayloadDialog } from './PayloadDialog.tsx'
import { ReplayDialog } from './ReplayDialog.tsx'

interface FailuresProps {
  source: Source
  pages: Pages<Failure>
  onReload: () => void
}

export const Failures = ({ source, pages, onReload }: FailuresProps) => {
  const [shown, setShown] = useState<Failure | null>(null)
  const [isReplaying, setIsReplaying] = useState(false)
  const columns: readonly Column<Failure>[] = [
    {
      key: 'time',
      label: later.failures.time,
      cell: ({ receivedAt }) => <Time value={receivedAt} />,
    },
    { key: 'reason', label: later.failures.reason, cell: ({ reason }) => reason },
    {
      key: 'size',
      label: later.failures.size,
      cell: ({ size }) => later.failures.bytes(size),
      isNumber: true,
    },
    {
      key: 'actions',
      label: text.common.actions,
      cell: (one) => (
        <Button size="small" icon="eye" onClick={() => setShown(one)}>
          {later.failures.show}
        </Button>
      ),
    },
  ]
  return (
    <section class="stack">
      <header class="section-header">
        <div>
          <h2>{later.failures.title}</h2>
          <p class="hint">{later.failures.lead}</p>
        </div>
        <Button size="small" icon="play" onClick={() => setIsReplaying(true)}>
          {later.failures.replay}
        </Button>
      </header>
      <Table
        label={later.failures.title}
        columns={columns}
        pages={pages}
        empty={
          <Empty icon="check" title={later.failures.emptyTitle}>
            {later.failures.empty}
          </Empty>
        }
      />
      {shown && <PayloadDialog source={source} failure={shown} onClose={() => setShown(null)} />}
      {isReplaying && (
        <ReplayDialog
          sourceId={source.id}
          onClose={() => setIsReplaying(false)}
          onReplayed={onReload}
        />
      )}
    </section>
  )
}
