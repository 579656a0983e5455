import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { Panel } from "@/components/layout/panel"
import { LagRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { NotApplicable, Num } from "@/components/values/num"
import { Duration } from "@/components/values/time"
import { usePhone } from "@/hooks/use-media"
import type { Group, GroupQueue } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { queueId } from "../trends"
import { useGrowingQueues } from "../use-growing-queues"
import classes from "./lag.module.css"
import { LagRows } from "./lag-rows"

const column = columnsFor<GroupQueue>()

/** Queue by queue where the group stands; the rails share one scale, which the title states. */
export function LagTable({ group }: { group: Group }) {
  const { t } = useTranslation()
  const isPhone = usePhone()
  const growing = useGrowingQueues(group)
  const scale = Math.max(1, ...group.queues.map(({ lag }) => lag ?? 0))
  const topics = new Set(group.queues.map(({ topic }) => topic))
  const brokers = new Set(group.queues.map(({ broker }) => broker))
  return (
    <Panel
      title={t("lag.queues")}
      note={topics.size === 0 ? undefined : isPhone ? t("lag.worstFirst", { n: group.queues.length, topics: [...topics].join(t("list.comma")) }) : t("lag.scale", { topics: [...topics].join(t("list.comma")), n: count(scale) })}
    >
      {group.queues.length === 0 && <Empty title={t("lag.none")} next={t("lag.noneNext")} />}
      {group.queues.length > 0 &&
        (isPhone ? (
          <LagRows queues={group.queues} scale={scale} growing={growing} />
        ) : (
          <QueuesTable
            queues={group.queues}
            scale={scale}
            growing={growing}
            hasTopics={topics.size > 1}
            hasBrokers={brokers.size > 1}
            hasReasons={group.queues.some(({ lag }) => lag === null)}
          />
        ))}
    </Panel>
  )
}

interface QueuesTableProps {
  queues: GroupQueue[]
  scale: number
  growing: ReadonlySet<string>
  hasTopics: boolean
  hasBrokers: boolean
  hasReasons: boolean
}

/** The columns that are not always there take room from the rail and the offsets. */
function QueuesTable({ queues, scale, growing, hasTopics, hasBrokers, hasReasons }: QueuesTableProps) {
  const { t } = useTranslation()
  const columns = useMemo(() => {
    const isGrowing = (queue: GroupQueue) => growing.has(queueId(queue))
    const taken = (hasBrokers ? 90 : 0) + (hasTopics ? 150 : 0) + (hasReasons ? 90 : 0)
    return [
      ...(hasBrokers ? [column("broker", t("topics.broker"), { isSecondary: true }, (queue) => queue.broker)] : []),
      ...(hasTopics ? [column("topic", t("lag.topic"), { isName: true }, (queue) => <span className={classes.topic}>{queue.topic}</span>)] : []),
      column("queue", t("lag.queue"), { align: "end", isStrong: true, width: 56 }, (queue) => queue.queue_id),
      column("client", t("lag.client"), { isSecondary: true }, (queue) => <Client id={queue.client} />),
      column("broker_offset", t("lag.brokerOffset"), { align: "end", isSecondary: true, minWidth: 560 + taken }, (queue) => (
        <Num value={queue.broker_offset} reason={queue.unknown_reason} width={54} />
      )),
      column("group_offset", t("lag.groupOffset"), { align: "end", minWidth: 480 + taken }, (queue) => (
        <Num value={queue.group_offset} reason={queue.unknown_reason} width={54} />
      )),
      column("lag", t("lag.lag"), { align: "end", isStrong: true }, (queue) => (
        <span className={isGrowing(queue) ? classes.growing : undefined}>
          <Num value={queue.lag} reason={queue.unknown_reason} width={38} />
        </span>
      )),
      column("rail", "", { width: 150, minWidth: 640 + taken, ends: [t("lag.consumed"), t("lag.head")] }, (queue) => (
        <LagRail lag={queue.lag} scale={scale} tone={isGrowing(queue) ? "growing" : "normal"} />
      )),
      column("time_lag", t("lag.timeLag"), { align: "end" }, (queue) =>
        queue.lag === null ? (
          <Reason reason={queue.unknown_reason && reasonIn(t, queue.unknown_reason)} />
        ) : queue.lag > 0 && queue.time_lag_ms === null ? (
          <Num value={null} reason={t("groups.notTimed")} />
        ) : (
          <Duration ms={queue.time_lag_ms} />
        ),
      ),
    ]
  }, [t, scale, growing, hasTopics, hasBrokers, hasReasons])
  return <DataTable natural label={t("lag.queues")} columns={columns} rows={queues} rowId={queueId} />
}

/** Why a lag is not known: whole, in as many lines as its column needs. */
const Reason = ({ reason }: { reason: string | null }) => <span className={`micro ${classes.reason}`}>{reason}</span>

function Client({ id }: { id: string | null }) {
  if (id === null) return <NotApplicable />
  return (
    <span className={classes.client} title={id}>
      <bdi dir="ltr">{id}</bdi>
    </span>
  )
}
