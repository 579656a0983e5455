import { Button } from "@mantine/core"
import { IconClockHour4, IconPlugConnectedX } from "@tabler/icons-react"
import type { UseQueryResult } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { Panel, PanelFoot } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { live } from "@/lib/live"
import { Failed } from "./failed"
import { SkeletonRows } from "./skeleton-rows"
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
      {isStale && <StaleFoot at={query.dataUpdatedAt} onReconnect={() => void query.refetch()} />}
    </Panel>
  )
}

/** The four states without the panel around them. */
export function QueryBody<T>(props: QueryPanelProps<T> & { isStale?: boolean }) {
  const { query, what, skeleton = <SkeletonRows />, empty, isEmpty, isStale = false, children } = props
  if (query.data === undefined) {
    if (!query.error) return skeleton
    return <Failed what={what} error={query.error} retry={() => void query.refetch()} />
  }
  if (empty !== undefined && isEmpty?.(query.data)) return empty
  return isStale ? <div className={classes.stale}>{children(query.data)}</div> : children(query.data)
}

/** The age of the data once it is older than allowed, else null. */
function useAge(updatedAt: number, staleAfterMs: number | undefined): number | null {
  const now = useNow(2_000)
  if (staleAfterMs === undefined || updatedAt === 0) return null
  const age = now - updatedAt
  return age > staleAfterMs ? age : null
}

function StaleBadge({ ageMs }: { ageMs: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <Badge tone="warn" icon={IconClockHour4}>
      {t("states.old", { age: format.duration(ageMs) })}
    </Badge>
  )
}

function StaleFoot({ at, onReconnect }: { at: number; onReconnect: () => void }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <PanelFoot>
      <IconPlugConnectedX size={15} stroke={1.6} color="var(--warn)" aria-hidden />
      {t("states.stale", { time: format.clock(at) })}
      <Button
        size="xs"
        onClick={() => {
          live.reconnect()
          onReconnect()
        }}
      >
        {t("actions.reconnect")}
      </Button>
    </PanelFoot>
  )
}
