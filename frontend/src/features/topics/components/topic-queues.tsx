import { Link } from "@tanstack/react-router"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { LagRail } from "@/components/rail/rail"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { Num } from "@/components/values/num"
import { Time } from "@/components/values/time"
import type { TopicQueue } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useTopicQueues } from "../api/get-topic-queues"

const column = columnsFor<TopicQueue>()

/** Queue by queue: from its oldest to its newest message; the bars share one scale, so skew shows. */
export function TopicQueues({ cluster, topic, title }: { cluster: string; topic: string; title?: string }) {
  const { t } = useTranslation()
  const queues = useTopicQueues(cluster, topic)
  const longest = Math.max(1, ...(queues.data ?? []).map(({ count: messages }) => messages ?? 0))
  const isSpread = new Set((queues.data ?? []).map(({ broker }) => broker)).size > 1
  const columns = useMemo(
    () => [
      // Without the broker, which a narrow table leaves out, the numbers of several brokers are the same.
      column("queue", t("topics.queue"), { align: "end", isStrong: true, ...(!isSpread && { width: 60 }) }, (queue) => (isSpread ? `${queue.broker}/${queue.queue_id}` : queue.queue_id)),
      ...(isSpread ? [] : [column("broker", t("topics.broker"), { isSecondary: true, minWidth: 620 }, (queue) => queue.broker)]),
      column("min", t("topics.minOffset"), { align: "end", isSecondary: true, minWidth: 480 }, (queue) => <Num value={queue.min_offset} reason={queue.unknown_reason} />),
      column("max", t("topics.maxOffset"), { align: "end" }, (queue) => <Num value={queue.max_offset} reason={queue.unknown_reason} />),
      column("count", t("topics.messages"), { align: "end", isStrong: true }, (queue) => <Num value={queue.count} reason={queue.unknown_reason} />),
      column("rail", t("topics.share"), { width: 180, minWidth: 560 }, (queue) => <LagRail lag={queue.count} scale={longest} />),
      column("last", t("topics.lastWrite"), { align: "end", isSecondary: true, minWidth: 700 }, (queue) => (
        <Time at={queue.last_stored_at} withMs />
      )),
      column("open", "", { align: "end" }, ({ queue_id, min_offset, unknown_reason: reason }) =>
        min_offset === null ? (
          <span className="micro">{reason && reasonIn(t, reason)}</span>
        ) : (
          <Link to="/messages" search={{ mode: "offset", topic, queue: String(queue_id), offset: String(min_offset) }}>
            {t("topics.read")}
          </Link>
        ),
      ),
    ],
    [t, topic, longest, isSpread],
  )
  return (
    <QueryPanel
      query={queues}
      title={title ?? t("topics.tabs.queues")}
      note={t("topics.scale", { n: count(longest) })}
      what={t("topics.queuesFailed")}
      isEmpty={(items) => items.length === 0}
      empty={<Empty title={t("topics.noQueue")} />}
    >
      {(items) => (
        <DataTable natural label={t("topics.tabs.queues")} columns={columns} rows={items} rowId={({ broker, queue_id }) => `${broker} ${queue_id}`} />
      )}
    </QueryPanel>
  )
}
