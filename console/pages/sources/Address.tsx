import type { Source } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { CodeLine, ShownOnce } from '../../ui/dialog/ShownOnce.tsx'
import { AppSetup } from './apps/AppSetup.tsx'
import { PortalSteps } from './PortalSteps.tsx'
import { curlOf, sampleOf } from './samples.ts'
import './sources.css'

interface AddressProps {
  source: Source
  url: string | null
  onClose: () => void
}

/** The address of a source, which no reply shows again, and how to try it. */
export const Address = ({ source, url, onClose }: AddressProps) => (
  <ShownOnce
    title={later.sources.addressTitle(source.name)}
    label={later.sources.address}
    value={url}
    onClose={onClose}
  >
    <p>{later.sources.addressHint}</p>
    <PortalSteps provider={source.provider} />
    {url && (
      <>
        <AppSetup source={source} url={url} />
        <p>{later.sources.tryIt}</p>
        <CodeLine
          label={later.sources.curl}
          value={curlOf(url, sampleOf(source.provider, Date.now()))}
        />
      </>
    )}
  </ShownOnce>
)
