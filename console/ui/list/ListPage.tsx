import type { ComponentChildren } from 'preact'
import { LinkButton } from '../Button.tsx'
import type { IconName } from '../Icon.tsx'
import { Page } from '../Page.tsx'
import { Empty } from '../states.tsx'
import { Table, type TableProps } from './Table.tsx'

interface ListPageProps<T> extends Pick<TableProps<T>, 'columns' | 'pages'> {
  words: { title: string; lead: string; add: string; emptyTitle: string; empty: string }
  icon: IconName
  /** The address of the page; those of its items are below it. */
  path: string
  canAdd?: boolean
  /** Further buttons beside the title. */
  actions?: ComponentChildren
}

/** A page with one list, whose items have pages of their own. */
export const ListPage = <T extends { id: string }>({
  words,
  icon,
  path,
  canAdd = true,
  actions,
  ...table
}: ListPageProps<T>) => {
  const add = canAdd && (
    <LinkButton kind="primary" icon="plus" href={`${path}/new`}>
      {words.add}
    </LinkButton>
  )
  return (
    <Page
      title={words.title}
      lead={words.lead}
      actions={
        <>
          {actions}
          {add}
        </>
      }
    >
      <Table
        {...table}
        label={words.title}
        href={({ id }) => `${path}/${id}`}
        empty={
          <Empty icon={icon} title={words.emptyTitle} action={add}>
            {words.empty}
          </Empty>
        }
      />
    </Page>
  )
}
