import { Checkbox } from "@mantine/core"
import { useCluster } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import { useTranslation } from "react-i18next"
import { MinutesField } from "@/components/wizard/minutes-field"
import { useRefused } from "@/components/wizard/refusals"
import { isCheck, isToFile, isToItself } from "../request"
import { requestOf } from "../request-state"
import { type SideName, SIDES } from "../sides"
import { CompareFields, ConditionFields } from "./compare-fields"
import { FileFields } from "./export-fields"
import { NotifyFields } from "./notify-fields"
import { MissingRights } from "./missing-rights"
import { LimitFields, SourceFields } from "./request-fields"
import { RightRange } from "./right-range"
import { type Choices, SideFields, WhatField } from "./side-fields"
import { TargetFields } from "./target-fields"
import { ScheduledRange } from "./scheduled-range"

interface ScheduleJobFieldsProps {
  topics: string[]
  /** Of the cluster that a replay writes to. */
  targetTopics: string[]
  /** What the sides of a comparison can be chosen from. */
  clusters: string[]
  choices: Record<SideName, Choices>
}

/** The fields of a job that a schedule starts; the same words of the address as in the wizards. */
export const ScheduleJobFields = (props: ScheduleJobFieldsProps) => (
  <>
    <Lacking />
    <FieldsOfType {...props} />
    <NotifyFields />
  </>
)

/** A schedule needs the rights of its job when it is saved. */
function Lacking() {
  const [state] = useUrlState()
  const type = state.new === "reconcile" || state.new === "export" ? state.new : "replay"
  return <MissingRights request={requestOf(type, state, useCluster())} />
}

function FieldsOfType({ topics, targetTopics, clusters, choices }: ScheduleJobFieldsProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const refused = useRefused()
  const cluster = useCluster()
  if (state.new === "reconcile" && isCheck(state))
    return (
      <>
        <WhatField state={state} onChange={change} />
        <MinutesField />
      </>
    )
  if (state.new === "reconcile")
    return (
      <>
        <WhatField state={state} onChange={change} />
        {SIDES.map((side) => (
          <SideFields key={side} side={side} state={state} clusters={clusters} choices={choices[side]} onChange={change} />
        ))}
        <ScheduledRange path="left" state={state} onChange={change} />
        <RightRange state={state} onChange={change}>
          <ScheduledRange path="right" state={state} onChange={change} />
        </RightRange>
        <ConditionFields state={state} onChange={change} />
        <CompareFields state={state} onChange={change} />
        <MinutesField />
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
      <TargetFields state={state} clusters={clusters} topics={targetTopics} onChange={change} />
      <LimitFields state={state} onChange={change} />
      {!isToFile(state) && !isToItself(state, cluster) && (
        <Checkbox label={t("jobs.allowLive")} description={t("jobs.allowLiveWords")} error={refused("allow_live_target")} checked={state.live === "1"} onChange={(event) => change({ live: event.currentTarget.checked ? "1" : undefined })} />
      )}
    </>
  )
}
