import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { useAge } from "@/hooks/use-age"
import { isGone } from "@/lib/problem"
import { Failed } from "./failed"
import { Loading } from "./loading"
import { SkeletonRows } from "./skeleton-rows"
import { NotRenewed, StaleBadge, StaleNotice } from "./stale"
import classes from "./states.module.css"

interface QueryPanelProps<T> {
  query: Pick<UseQueryResult<T>, "data" | "error" | "dataUpdatedAt" | "refetch">
  title?: ReactNode
  note?: ReactNode
  actions?: ReactNode
  grow?: boolean
  /** What to say when it failed: "Lag could not be read". */
  what: string
  skeleton?: ReactNode
  empty?: ReactNode
  isEmpty?: (data: T) => boolean
  /** Older than this is shown as stale; only for what is meant to move. */
  staleAfterMs?: number
  children: (data: T) => ReactNode
}

/** A panel with the four honest states: loading, empty, failed, stale. */
export function QueryPanel<T>(props: QueryPanelProps<T>) {
  const { query, title, note, actions, grow = false } = props
  const age = useAge(query.dataUpdatedAt, props.staleAfterMs)
  const isStale = query.data !== undefined && age !== null
  return (
    <Panel
      title={title}
      note={note}
      grow={grow}
      actions={isStale ? <StaleBadge ageMs={age} /> : actions}
    >
      <QueryBody {...props} isStale={isStale} />
      {isStale && (
        <PanelFoot>
          <StaleNotice at={query.dataUpdatedAt} />
        </PanelFoot>
      )}
    </Panel>
  )
}

/** The four states without the panel around them. What is shown while it cannot be read again, says so. */
export function QueryBody<T>(props: QueryPanelProps<T> & { isStale?: boolean }) {
  const { t } = useTranslation()
  const { query, what, skeleton = <SkeletonRows />, empty, isEmpty, isStale = false, children } = props
  if (query.data === undefined) {
    if (!query.error) return <Loading skeleton={skeleton} />
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (isGone(query.error)) return <Failed what={t("states.gone")} error={query.error} />
  const notice = query.error && <NotRenewed what={what} error={query.error} at={query.dataUpdatedAt} />
  const body = empty !== undefined && isEmpty?.(query.data) ? empty : isStale ? <div className={classes.stale}>{children(query.data)}</div> : children(query.data)
  return notice ? (
    <>
      {notice}
      {body}
    </>
  ) : (
    body
  )
}
