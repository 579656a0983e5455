import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { TitleBlock } from "@/components/layout/title-block"
import { Unknown } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import type { Topic } from "@/lib/api-types"
import { bytes, count, rate } from "@/lib/format"
import { TopicFigure } from "./topic-figure"

type Known = "messages" | "in_rate" | "max_lag"

/** The fact below a figure; one that is not known has none but whether its last value is shown. */
function factOf(t: TFunction, topic: Topic, field: Known, fact: string): string {
  if (topic[field] !== null) return fact
  return t((topic.last_known?.[field] ?? null) === null ? "states.unknown" : "overview.lastKnown")
}

function kept(t: TFunction, { size_bytes: size }: Topic): string {
  return size === null ? t("topics.keptUnknown") : t("topics.keptBytes", { size: bytes(size) })
}

export function TopicFigures({ topic }: { topic: Topic }) {
  const { t } = useTranslation()
  const why = topic.missing[0]?.reason
  const number = (value: number | null) => (value === null ? <Unknown reason={why} /> : count(value))
  const brokers = topic.brokers.length
  const isWriteUnknown = topic.messages === null && topic.last_stored_at === null
  return (
    <TitleBlock
      figures={[
        { label: t("topics.messages"), value: <TopicFigure topic={topic} field="messages" />, fact: factOf(t, topic, "messages", kept(t, topic)) },
        {
          label: t("topics.inRate"),
          value: <TopicFigure topic={topic} field="in_rate" write={rate} />,
          unit: topic.in_rate === null ? undefined : "/s",
          fact: factOf(t, topic, "in_rate", t("topics.lastTen")),
        },
        {
          label: t("topics.outRate"),
          value: topic.out_rate === null ? <Unknown reason={why ?? t("topics.outUnknown")} /> : rate(topic.out_rate),
          unit: topic.out_rate === null ? undefined : "/s",
          fact: t(topic.out_rate === null ? "states.unknown" : "topics.outFact"),
        },
        {
          label: t("topics.lastWrite"),
          value: isWriteUnknown ? <Unknown reason={why} /> : <Ago at={topic.last_stored_at} />,
          fact: isWriteUnknown ? t("states.unknown") : <Time at={topic.last_stored_at} />,
        },
        { label: t("topics.groups"), value: number(topic.groups), fact: topic.groups === null ? t("states.unknown") : t("topics.consume") },
        {
          label: t("topics.maxLag"),
          value: topic.groups === 0 ? "—" : <TopicFigure topic={topic} field="max_lag" />,
          fact: topic.groups === 0 ? t("topics.noGroup") : factOf(t, topic, "max_lag", t("topics.slowest")),
        },
        {
          label: t("topics.queues"),
          value: `${topic.total_read_queues} / ${topic.total_write_queues}`,
          fact: brokers > 1 ? t("topics.onBrokers", { count: brokers }) : t(`topics.permissions.${topic.permission}`),
        },
      ]}
    />
  )
}
