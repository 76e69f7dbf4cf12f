import { useAction } from '../api/resource.ts'
import { Button, type ButtonProps } from './Button.tsx'
import { Refusal } from './states.tsx'

type ActionButtonProps = Omit<ButtonProps, 'onClick' | 'isPending' | 'type'> & {
  onAct: () => Promise<unknown>
}

/** Acts at once. Shows that it is pending, and beside it why it was refused. */
export const ActionButton = ({ onAct, ...button }: ActionButtonProps) => {
  const { run, isPending, error } = useAction(onAct)
  return (
    <>
      <Button {...button} isPending={isPending} onClick={() => run()} />
      {error && <Refusal error={error} />}
    </>
  )
}
