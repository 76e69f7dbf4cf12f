import { Component, type ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { text } from '../text/text.ts'
import { Button } from '../ui/Button.tsx'
import { Empty } from '../ui/states.tsx'

/** Keeps a fault in one page from taking the whole console down. */
export class Boundary extends Component<
  { path: string; children: ComponentChildren },
  { hasFailed: boolean }
> {
  override state = { hasFailed: false }

  override componentDidUpdate({ path }: { path: string }) {
    if (this.state.hasFailed && path !== this.props.path) this.setState({ hasFailed: false })
  }

  override componentDidCatch(error: unknown) {
    console.error(error)
    this.setState({ hasFailed: true })
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children
    return (
      <Empty
        icon="warning"
        title={text.errors.crashTitle}
        action={<Button onClick={() => location.reload()}>{text.errors.reload}</Button>}
      >
        {text.errors.crash}
      </Empty>
    )
  }
}

/** The new page is announced by moving the focus to its heading. */
export const useHeadingFocus = (path: string): void =>
  useEffect(() => {
    const timer = setTimeout(() => {
      if (document.activeElement === document.body || document.activeElement?.closest('nav'))
        document.querySelector<HTMLElement>('h1[tabindex]')?.focus({ preventScroll: true })
    }, 150)
    return () => clearTimeout(timer)
  }, [path])
