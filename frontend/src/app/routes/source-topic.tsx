import { useTranslation } from "react-i18next"
import { ReadRange } from "@/features/jobs/components/read-range"
import { STATS_RANGES, useTopicStats } from "@/features/topics/api/get-topic-stats"
import { TopicQueues } from "@/features/topics/components/topic-queues"
import { useUrlState } from "@/hooks/use-url-state"

interface SourceProps {
  cluster: string
  topic: string
}

/** What the topic that a job reads stored over time. */
export function StoredOverTime({ cluster, topic }: SourceProps) {
  const [state] = useUrlState()
  const range = STATS_RANGES.find((each) => each === state.range) ?? "1h"
  return <ReadRange stats={useTopicStats(cluster, topic, range)} range={range} ranges={STATS_RANGES} />
}

/** Its queues, with the messages that a job could read. */
export function SourceQueues({ cluster, topic }: SourceProps) {
  const { t } = useTranslation()
  return <TopicQueues cluster={cluster} topic={topic} title={t("jobs.touched")} />
}
