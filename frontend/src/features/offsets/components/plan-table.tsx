import { Checkbox } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Callout, Panel } from "@/components/layout/panel"
import { NotApplicable } from "@/components/values/num"
import type { OffsetPlan, PlannedQueue } from "@/lib/api-types"
import { count, signed } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { placeOf } from "../wish"
import { OffsetRail } from "./offset-rail"
import classes from "./offsets.module.css"

interface PlanTableProps {
  plan: OffsetPlan
  left: ReadonlySet<string>
  onLeave: (place: string, isLeft: boolean) => void
}

const column = columnsFor<PlannedQueue>()

/** Before and after, queue by queue; what is not ticked stays where it is. */
export function PlanTable({ plan, left, onLeave }: PlanTableProps) {
  const { t } = useTranslation()
  const hasBrokers = new Set(plan.queues.map(({ broker }) => broker)).size > 1
  const columns = useMemo(
    () => [
      column("moves", "", { width: 36 }, (queue) => (
        <Checkbox
          size="14px"
          aria-label={t("offsets.move", { queue: placeOf(queue) })}
          checked={!left.has(placeOf(queue)) && queue.new !== null}
          disabled={queue.new === null}
          onChange={(event) => onLeave(placeOf(queue), !event.currentTarget.checked)}
        />
      )),
      ...(hasBrokers ? [column("broker", t("topics.broker"), { isSecondary: true }, (queue) => queue.broker)] : []),
      column("queue", t("lag.queue"), { align: "end", isStrong: true, width: 56 }, (queue) => queue.queue_id),
      column("now", t("offsets.now"), { align: "end", isSecondary: true }, (queue) => (queue.current === null ? <NotApplicable /> : count(queue.current))),
      column("after", t("offsets.after"), { align: "end", isStrong: true }, (queue) => (queue.new === null ? <NotApplicable /> : count(queue.new))),
      column("change", t("offsets.change"), { align: "end", minWidth: 460 }, (queue) => <Change queue={queue} />),
      column("rail", "", { minWidth: 640, ends: ["", t("lag.head")] }, (queue) => <OffsetRail queue={left.has(placeOf(queue)) ? { ...queue, new: queue.current } : queue} />),
      column("effect", t("offsets.effect"), {}, (queue) => (left.has(placeOf(queue)) ? t("offsets.stays") : <Effect queue={queue} />)),
    ],
    [t, left, onLeave, hasBrokers],
  )
  return (
    <Panel title={t("offsets.beforeAfter")} note={t("offsets.railNote")}>
      <DataTable natural label={t("offsets.beforeAfter")} columns={columns} rows={plan.queues} rowId={placeOf} />
      {plan.unknown.map(({ broker, reason }) => (
        <Callout key={broker}>{t("offsets.unknown", { broker, reason: reasonIn(t, reason) })}</Callout>
      ))}
    </Panel>
  )
}

function Change({ queue: { delta } }: { queue: PlannedQueue }) {
  if (delta === null) return <NotApplicable />
  return <span className={delta > 0 ? classes.skipped : undefined}>{delta === 0 ? "0" : signed(delta)}</span>
}

function Effect({ queue }: { queue: PlannedQueue }) {
  const { t } = useTranslation()
  const words = [
    queue.to_replay > 0 && t("offsets.again", { n: count(queue.to_replay) }),
    queue.skipped > 0 && t("offsets.never", { n: count(queue.skipped) }),
    queue.warning && t(`offsets.warnings.${queue.warning}`),
  ].filter(Boolean)
  return <span className={queue.skipped > 0 ? classes.skipped : undefined}>{words.length > 0 ? words.join(t("list.comma")) : t("offsets.stays")}</span>
}
