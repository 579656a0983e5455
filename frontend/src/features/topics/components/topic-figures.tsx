import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { TitleBlock } from "@/components/layout/title-block"
import { Unknown } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import type { Topic } from "@/lib/api-types"
import { bytes, count, rate } from "@/lib/format"
import { TopicFigure } from "./topic-figure"

function kept(t: TFunction, { messages, size_bytes: size }: Topic): string {
  if (messages === null) return t("states.unknown")
  return size === null ? t("topics.keptUnknown") : t("topics.keptBytes", { size: bytes(size) })
}

export function TopicFigures({ topic }: { topic: Topic }) {
  const { t } = useTranslation()
  const why = topic.missing[0]?.reason
  const number = (value: number | null) => (value === null ? <Unknown reason={why} /> : count(value))
  const brokers = topic.brokers.length
  return (
    <TitleBlock
      figures={[
        { label: t("topics.messages"), value: <TopicFigure topic={topic} field="messages" />, fact: kept(t, topic) },
        {
          label: t("topics.inRate"),
          value: <TopicFigure topic={topic} field="in_rate" write={rate} />,
          unit: topic.in_rate === null ? undefined : "/s",
          fact: t("topics.lastTen"),
        },
        {
          label: t("topics.outRate"),
          value: topic.out_rate === null ? <Unknown reason={why ?? t("topics.outUnknown")} /> : rate(topic.out_rate),
          unit: topic.out_rate === null ? undefined : "/s",
          fact: t("topics.outFact"),
        },
        {
          label: t("topics.lastWrite"),
          value: topic.messages === null && topic.last_stored_at === null ? <Unknown reason={why} /> : <Ago at={topic.last_stored_at} />,
          fact: <Time at={topic.last_stored_at} />,
        },
        { label: t("topics.groups"), value: number(topic.groups), fact: topic.groups === null ? t("states.unknown") : t("topics.consume") },
        {
          label: t("topics.maxLag"),
          value: topic.groups === 0 ? "—" : <TopicFigure topic={topic} field="max_lag" />,
          fact: topic.groups === 0 ? t("topics.noGroup") : topic.max_lag === null ? t("states.unknown") : t("topics.slowest"),
        },
        {
          label: t("topics.queues"),
          value: `${topic.total_read_queues} / ${topic.total_write_queues}`,
          fact: brokers > 1 ? t("topics.onEach", { count: brokers }) : t(`topics.permissions.${topic.permission}`),
        },
      ]}
    />
  )
}
