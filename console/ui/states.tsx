import type { ComponentChildren } from 'preact'
import type { PerigeeError } from '../../clients/typescript/src/error.ts'
import { shownRequestId } from '../api/errors.ts'
import { text } from '../text/text.ts'
import { Button } from './Button.tsx'
import { Icon, type IconName } from './Icon.tsx'

/* What a page shows while it has nothing to show. */

export const Pending = ({ label = text.common.loading }: { label?: string }) => (
  <div class="state" role="status">
    <span class="spinner large" aria-hidden="true" />
    <p>{label}</p>
  </div>
)

interface EmptyProps {
  icon: IconName
  title: string
  children?: ComponentChildren
  action?: ComponentChildren
}

export const Empty = ({ icon, title, children, action }: EmptyProps) => (
  <div class="state">
    <span class="state-icon">
      <Icon name={icon} size={26} />
    </span>
    <h2>{title}</h2>
    {children && <p>{children}</p>}
    {action}
  </div>
)

const RequestId = ({ of }: { of: PerigeeError }) => {
  const id = shownRequestId(of)
  return id && <p class="request-id">{text.errors.requestId(id)}</p>
}

/** An error in the place of what could not be loaded. */
export const Failed = ({ error, onRetry }: { error: PerigeeError; onRetry?: () => void }) => (
  <div class="state failed" role="alert">
    <span class="state-icon">
      <Icon name="warning" size={26} />
    </span>
    <h2>{text.errors.title}</h2>
    <p>{error.message}</p>
    <RequestId of={error} />
    {onRetry && <Button onClick={onRetry}>{text.common.tryAgain}</Button>}
  </div>
)

interface UnloadedProps {
  error: PerigeeError | null
  onRetry: () => void
  icon: IconName
}

interface NotLoadedProps {
  of: { error: PerigeeError | null; reload: () => void }
  rows?: number | undefined
}

/** In the place of a resource that is loading, does not exist or could not be loaded. */
export const Unloaded = ({ error, onRetry, icon }: UnloadedProps) => {
  if (!error) return <Pending />
  if (error.status === 404) return <Empty icon={icon} title={error.message} />
  return <Failed error={error} onRetry={onRetry} />
}

/** In the place of a part of a page whose data are not there yet, or could not be loaded. */
export const NotLoaded = ({ of: { error, reload }, rows }: NotLoadedProps) =>
  error ? <Failed error={error} onRetry={reload} /> : <Skeleton rows={rows} />

/** An error beside the form or button that caused it. */
export const Refusal = ({
  error,
  children,
}: {
  error: PerigeeError
  children?: ComponentChildren
}) => (
  <div class="refusal" role="alert">
    <Icon name="warning" />
    <div>
      <p>
        {children ?? (error.code === 'invalid-request' ? text.errors.checkFields : error.message)}
      </p>
      <RequestId of={error} />
    </div>
  </div>
)

export const Skeleton = ({ rows = 6 }: { rows?: number | undefined }) => (
  <div class="skeleton" role="status" aria-label={text.common.loading}>
    {Array.from({ length: rows }, (_, at) => (
      <span key={at} />
    ))}
  </div>
)
