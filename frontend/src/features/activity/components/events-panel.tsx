import { Button } from "@mantine/core"
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { FilterRow } from "@/components/data-table/table-tools"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useKeys } from "@/hooks/use-keys"
import { useUrlState } from "@/hooks/use-url-state"
import type { ActivityEvent } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useActivity } from "../api/get-events"
import { FAMILIES, type Family, familyOf, isOf } from "../kinds"
import classes from "./activity.module.css"
import { EventRows } from "./event-rows"

/** Every event that is kept, by kind; what comes while it is paused waits and is counted. */
export function EventsPanel({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [url, change] = useUrlState()
  const query = useActivity(cluster)
  const [pausedAt, setPausedAt] = useState<number | null>(null)
  const family = familyOf(url.kind)
  const all = query.data?.items ?? []
  const waiting = pausedAt === null ? 0 : all.filter((event) => event.seq > pausedAt && isOf(event, family)).length
  const shownOf = (items: readonly ActivityEvent[]) => items.filter((event) => isOf(event, family) && (pausedAt === null || event.seq <= pausedAt))
  const isNone = all.length === 0
  return (
    <>
      <FilterRow>
        <Kinds family={family} onChange={(kind) => change({ kind: kind ?? undefined })} />
      </FilterRow>
      <QueryPanel
        grow
        query={query}
        title={t("activity.title")}
        note={t("activity.whenSeen")}
        actions={<PauseButton isPaused={pausedAt !== null} waiting={waiting} toggle={() => setPausedAt(pausedAt === null ? Math.max(0, ...all.map(({ seq }) => seq)) : null)} />}
        what={t("activity.failed")}
        isEmpty={({ items }) => shownOf(items).length === 0}
        empty={<Empty title={t(isNone ? "activity.none" : "activity.noneMatch")} next={t(isNone ? "activity.noneNext" : "activity.noneMatchNext")} />}
      >
        {({ items, gaps }) => (
          <Scroll>
            <EventRows items={shownOf(items)} gaps={gaps} />
          </Scroll>
        )}
      </QueryPanel>
    </>
  )
}

const Scroll = ({ children }: { children: ReactNode }) => (
  // A region that scrolls is reached by keys too.
  <div className={classes.scroll} tabIndex={0} role="log" aria-live="off">
    {children}
  </div>
)

function Kinds({ family, onChange }: { family: Family | null; onChange: (family: Family | null) => void }) {
  const { t } = useTranslation()
  return (
    <div className={classes.kinds} role="group" aria-label={t("activity.kindLabel")}>
      <Chip isOn={family === null} onClick={() => onChange(null)}>
        {t("activity.all")}
      </Chip>
      {FAMILIES.map((each) => (
        <Chip key={each} isOn={each === family} onClick={() => onChange(each)}>
          {t(`activity.families.${each}`)}
        </Chip>
      ))}
    </div>
  )
}

function PauseButton({ isPaused, waiting, toggle }: { isPaused: boolean; waiting: number; toggle: () => void }) {
  const { t } = useTranslation()
  useKeys({ p: toggle })
  const words = waiting > 0 ? t("activity.proceedWaiting", { n: count(waiting) }) : t("activity.proceed")
  return (
    <Button
      size="xs"
      variant={isPaused ? "filled" : "default"}
      leftSection={isPaused ? <IconPlayerPlay size={15} stroke={1.8} /> : <IconPlayerPause size={15} stroke={1.6} />}
      onClick={toggle}
    >
      {isPaused ? words : t("activity.pause")}
    </Button>
  )
}
