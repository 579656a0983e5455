import { LastKnown } from "@/components/values/last-known"
import { Num } from "@/components/values/num"
import type { TopicSummary } from "@/lib/api-types"
import { count } from "@/lib/format"

interface TopicFigureProps {
  topic: TopicSummary
  field: "messages" | "in_rate" | "max_lag"
  write?: (value: number) => string
}

/** A figure of a topic, or what it was while it is not known. */
export function TopicFigure({ topic: { last_known: last, missing, ...topic }, field, write = count }: TopicFigureProps) {
  const was = last?.[field] ?? null
  if (topic[field] !== null) return <Num value={topic[field]} write={write} />
  return (
    <LastKnown at={last?.at} reason={missing[0]?.reason}>
      {was === null ? undefined : write(was)}
    </LastKnown>
  )
}
