import { useState } from 'preact/hooks'
import { useAction } from '../../api/resource.ts'
import { navigate, setLeaveGuard } from '../../router/router.ts'
import { text } from '../../text/text.ts'
import { Button } from '../Button.tsx'
import { toast } from '../toast.tsx'
import { Confirm, type ConfirmProps } from './Dialog.tsx'

type DeleteButtonProps = Pick<ConfirmProps, 'title' | 'confirmLabel' | 'name'> & {
  question: string
  onDelete: () => Promise<unknown>
  /** What is said afterwards, and the page to go to. */
  deleted: string
  href: string
}

/** Asks, deletes what a page shows, and leaves the page. */
export const DeleteButton = ({
  question,
  onDelete,
  deleted,
  href,
  ...asked
}: DeleteButtonProps) => {
  const [isAsking, setIsAsking] = useState(false)
  const remove = useAction(async () => {
    await onDelete()
    setLeaveGuard(null)
    toast(deleted)
    navigate(href)
  })
  return (
    <>
      <Button kind="danger" icon="trash" onClick={() => setIsAsking(true)}>
        {text.common.delete}
      </Button>
      {isAsking && (
        <Confirm
          {...asked}
          onConfirm={() => remove.run()}
          onClose={() => setIsAsking(false)}
          isPending={remove.isPending}
          error={remove.error}
        >
          <p>{question}</p>
        </Confirm>
      )}
    </>
  )
}
