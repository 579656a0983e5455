import { Checkbox } from "@mantine/core"
import { useUrlState } from "@/hooks/use-url-state"
import { useTranslation } from "react-i18next"
import { useRefused } from "../refusals"
import { CompareFields, ConditionFields } from "./compare-fields"
import { FileFields } from "./export-fields"
import { LimitFields, SourceFields, TopicSelect } from "./request-fields"
import { ScheduledRange } from "./scheduled-range"

/** The fields of a job that a schedule starts; the same words of the address as in the wizards. */
export function ScheduleJobFields({ topics }: { topics: string[] }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const refused = useRefused()
  if (state.new === "reconcile")
    return (
      <>
        <TopicSelect label={t("jobs.left")} value={state.left} error={refused("left.topic")} topics={topics} onChange={(left) => change({ left })} />
        <TopicSelect label={t("jobs.right")} value={state.right} error={isSame(state.left, state.right) ? t("jobs.sameSides") : refused("right.topic")} topics={topics} onChange={(right) => change({ right })} />
        <ScheduledRange path="left" state={state} onChange={change} />
        <ConditionFields state={state} onChange={change} />
        <CompareFields state={state} onChange={change} />
      </>
    )
  const source = <SourceFields state={state} topics={topics} onChange={change} range={<ScheduledRange path="source" state={state} onChange={change} />} />
  if (state.new === "export")
    return (
      <>
        {source}
        <FileFields state={state} onChange={change} />
      </>
    )
  return (
    <>
      {source}
      <TopicSelect label={t("jobs.targetTopic")} value={state.target} error={isSame(state.topic, state.target) ? t("jobs.sameTopic") : refused("target.topic")} topics={topics} onChange={(target) => change({ target })} />
      <LimitFields state={state} onChange={change} />
      <Checkbox label={t("jobs.allowLive")} description={t("jobs.allowLiveWords")} error={refused("allow_live_target")} checked={state.live === "1"} onChange={(event) => change({ live: event.currentTarget.checked ? "1" : undefined })} />
    </>
  )
}

const isSame = (one: string | undefined, other: string | undefined): boolean => Boolean(one) && one === other
