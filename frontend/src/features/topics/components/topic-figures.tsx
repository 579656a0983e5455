import { useTranslation } from "react-i18next"
import { TitleBlock } from "@/components/layout/title-block"
import { Unknown } from "@/components/values/num"
import { Ago, Time } from "@/components/values/time"
import type { Topic } from "@/lib/api-types"
import { count, rate } from "@/lib/format"

export function TopicFigures({ topic }: { topic: Topic }) {
  const { t } = useTranslation()
  const number = (value: number | null, write = count) => (value === null ? <Unknown /> : write(value))
  return (
    <TitleBlock
      figures={[
        { label: t("topics.messages"), value: number(topic.messages), fact: t("topics.kept") },
        {
          label: t("topics.inRate"),
          value: number(topic.in_rate, rate),
          unit: topic.in_rate === null ? undefined : "/s",
          fact: t("topics.lastTen"),
        },
        { label: t("topics.lastWrite"), value: <Ago at={topic.last_stored_at} />, fact: <Time at={topic.last_stored_at} /> },
        { label: t("topics.groups"), value: number(topic.groups), fact: t("topics.consume") },
        {
          label: t("topics.maxLag"),
          value: topic.groups === 0 ? "—" : number(topic.max_lag),
          fact: topic.groups === 0 ? t("topics.noGroup") : t("topics.slowest"),
        },
        {
          label: t("topics.queues"),
          value: `${topic.read_queues} / ${topic.write_queues}`,
          fact: t(`topics.permissions.${topic.permission}`),
        },
      ]}
    />
  )
}
