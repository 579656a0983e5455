import { Checkbox, SegmentedControl, Select, Stack } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { Callout } from "@/components/layout/panel"
import { useCluster } from "@/hooks/use-cluster"
import type { UrlState } from "@/hooks/use-url-state"
import { useRefused } from "@/components/wizard/refusals"
import { isToFile, isToItself, PRESERVED } from "../request"
import classes from "./jobs.module.css"
import { TopicSelect, TransformFields } from "./request-fields"

interface TargetProps {
  state: UrlState
  /** The clusters that a replay can write to, and the topics of the chosen one. */
  clusters: string[]
  topics: string[]
  onChange: (patch: UrlState) => void
}

/** Where a replay writes, a topic or a file of the job, and how its copies differ from what it reads. */
export function TargetFields(props: TargetProps) {
  const { t } = useTranslation()
  const refused = useRefused()
  const { state, onChange } = props
  const isFile = isToFile(state)
  return (
    <>
      <Field label={t("jobTarget.kind")} description={isFile ? t("jobTarget.parquetWords") : t("jobTarget.topicWords")} error={refused("target.kind")}>
        <SegmentedControl
          mt={4}
          aria-label={t("jobTarget.kind")}
          value={isFile ? "parquet" : "topic"}
          onChange={(kind) => onChange({ tkind: kind === "topic" ? undefined : kind })}
          data={(["topic", "parquet"] as const).map((value) => ({ value, label: t(`jobTarget.kinds.${value}`) }))}
        />
      </Field>
      {!isFile && <TopicFields {...props} />}
      <TransformFields state={state} onChange={onChange} />
      {!isFile && <CopyFields state={state} onChange={onChange} />}
    </>
  )
}

function TopicFields({ state, clusters, topics, onChange }: TargetProps) {
  const { t } = useTranslation()
  const cluster = useCluster()
  const refused = useRefused()
  return (
    <>
      {clusters.length > 1 && (
        <Select
          label={t("jobs.targetCluster")}
          data={clusters}
          value={state.tcluster ?? cluster}
          error={refused("target.cluster")}
          allowDeselect={false}
          onChange={(next) => onChange({ tcluster: next === cluster ? undefined : (next ?? undefined), target: undefined })}
          maw={360}
        />
      )}
      <TopicSelect label={t("jobs.targetTopic")} description={t("jobs.targetWords")} value={state.target} error={refused("target.topic")} topics={topics} onChange={(target) => onChange({ target })} />
      <IntoItself state={state} onChange={onChange} />
    </>
  )
}

/** What is asked of whoever replays a topic into itself; nothing for any other target. */
export function IntoItself({ state, onChange }: Pick<TargetProps, "state" | "onChange">) {
  const { t } = useTranslation()
  const refused = useRefused()
  if (!isToItself(state, useCluster())) return null
  return (
    <>
      <Callout>{t("jobs.sameTopic")}</Callout>
      <Checkbox label={t("jobs.intoItself")} error={refused("allow_live_target")} checked={state.live === "1"} onChange={(event) => onChange({ live: event.currentTarget.checked ? "1" : undefined })} />
    </>
  )
}

/** Which queue a copy goes to, and what it keeps of its original. */
function CopyFields({ state, onChange }: Pick<TargetProps, "state" | "onChange">) {
  const { t } = useTranslation()
  const refused = useRefused()
  const kept = PRESERVED.filter((what) => state.preserve?.split(",").includes(what))
  const keep = (what: (typeof PRESERVED)[number], isKept: boolean) => PRESERVED.filter((each) => (each === what ? isKept : kept.includes(each))).join(",")
  return (
    <Stack component="fieldset" gap={10} className={classes.fieldset}>
      <legend>{t("jobTarget.copies")}</legend>
      <Field label={t("jobTarget.order")} description={t(`jobTarget.orderWords.${state.torder === "key" ? "key" : "queue"}`)} error={refused("target.order")}>
        <SegmentedControl
          mt={4}
          aria-label={t("jobTarget.order")}
          value={state.torder === "key" ? "key" : "queue"}
          onChange={(order) => onChange({ torder: order === "queue" ? undefined : order })}
          data={(["queue", "key"] as const).map((value) => ({ value, label: t(`jobTarget.orders.${value}`) }))}
        />
      </Field>
      {PRESERVED.map((what) => (
        <Checkbox
          key={what}
          label={t(`jobTarget.keep.${what}`)}
          description={t(`jobTarget.keepWords.${what}`)}
          error={refused("target.preserve")}
          checked={kept.includes(what)}
          onChange={(event) => onChange({ preserve: keep(what, event.currentTarget.checked) || undefined })}
        />
      ))}
    </Stack>
  )
}
