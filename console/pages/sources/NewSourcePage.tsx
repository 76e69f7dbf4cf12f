import { useState } from 'preact/hooks'
import type { Source } from '../../api/types.ts'
import { navigate } from '../../router/router.ts'
import { later } from '../../text/later.ts'
import { text } from '../../text/text.ts'
import { Page } from '../../ui/Page.tsx'
import { Address } from './Address.tsx'
import { SourceForm } from './SourceForm.tsx'

export default () => {
  const [made, setMade] = useState<{ source: Source; url: string | null } | null>(null)
  return (
    <Page title={later.sources.add} parent={{ href: '/sources', label: text.sources.title }}>
      <SourceForm source={null} onSaved={(source, url) => setMade({ source, url })} />
      {made && (
        <Address
          {...made}
          onClose={() => navigate(`/sources/${made.source.id}`, { replace: true })}
        />
      )}
    </Page>
  )
}
