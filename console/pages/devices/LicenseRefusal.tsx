import { useEffect } from 'preact/hooks'
import type { PerigeeError } from '../../../clients/typescript/src/error.ts'
import { account, loadAccount } from '../../api/account.ts'
import { formatDayOf } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { Refusal } from '../../ui/states.tsx'

/** An error of a form that may take a license; a refusal says when one becomes free. */
export const LicenseRefusal = ({ error }: { error: PerigeeError }) => {
  const isRefused = error.code === 'no-license-available'
  useEffect(() => {
    if (isRefused) void loadAccount().catch(() => undefined)
  }, [isRefused])
  if (!isRefused) return <Refusal error={error} />
  const licenses = account.value?.licenses
  const availableAt = error.problem?.availableAt
  return (
    <Refusal error={error}>
      <b>{error.message}</b> {licenses && text.devices.noLicense(licenses.used, licenses.total)}{' '}
      {availableAt
        ? text.devices.nextLicense(formatDayOf(availableAt))
        : text.devices.noNextLicense}{' '}
      <a href="/licenses">{text.devices.seeLicenses}</a>
    </Refusal>
  )
}
