import { Group, SegmentedControl, Select, TextInput } from "@mantine/core"
import { type ReactNode, useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useLanguage, useZone } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { rawFields, refusedFields } from "@/lib/problem"
import type { JobRequest, Schedule, ScheduleInput } from "@/lib/api-types"
import { detailIn } from "@/lib/reasons"
import { zoneName } from "@/lib/time"
import { useCreateSchedule } from "../api/create-schedule"
import { cronFaultIn } from "../cron-fault"
import { useRunsPreview } from "../use-runs-preview"
import { NextRuns } from "./next-runs"

interface CreateScheduleProps {
  /** The fields of the job, by the feature that knows them. */
  jobFields: ReactNode
  job: JobRequest
  isJobWhole: boolean
  jobName: string
}

const OVERLAPS = ["skip", "queue", "cancel_previous"] as const

/** A job and when it runs; the next runs are shown before anything is kept. */
export function CreateSchedule({ jobFields, job, isJobWhole, jobName }: CreateScheduleProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const [state, change] = useUrlState()
  const create = useCreateSchedule()
  const zones = useMemo(() => ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")], [])
  const ownZone = zoneName(useZone())
  const [draft, setDraft] = useState({ name: "", cron: "0 3 * * *", zone: ownZone, overlap: "skip" as Schedule["overlap"] })
  const input = { ...draft, name: draft.name || jobName, enabled: true, catch_up_ms: null, jitter_ms: 0, job } satisfies ScheduleInput
  const preview = useRunsPreview(draft.cron, draft.zone)
  const wrong = preview.error?.fields ?? {}
  const refused = refusedFields(create, input)
  const faults = rawFields(create, input)
  const isReady = draft.cron.trim() !== "" && preview.error?.status !== 422 && isJobWhole
  const close = () =>
    change(Object.fromEntries(["new", "topic", "from", "to", "keys", "tag", "queues", "target", "rate", "max", "left", "right", "by", "name"].map((key) => [key, undefined])))
  const submit = () =>
    create.mutate(input, {
      onSuccess: () => {
        toastDone(t("schedules.created", { name: input.name }))
        close()
      },
      onError: (error) => toastFailed(t("schedules.notCreated", { name: input.name }), error, ["name", "zone"]),
    })
  return (
    <FormDrawer
      title={t("schedules.create")}
      action={input.name === "" ? t("schedules.create") : t("schedules.createNamed", { name: input.name })}
      right="jobs"
      isReady={isReady}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={close}
      request={{ method: "POST", path: paths.schedules, body: input }}
    >
      <TextInput label={t("schedules.name")} placeholder={jobName} value={draft.name} error={refused.name} onChange={(event) => setDraft({ ...draft, name: event.currentTarget.value })} />
      <Field label={t("schedules.job")}>
        <SegmentedControl
          value={state.new === "reconcile" ? "reconcile" : "replay"}
          onChange={(type) => change({ new: type })}
          data={(["replay", "reconcile"] as const).map((value) => ({ value, label: t(`jobs.types.${value}`) }))}
        />
      </Field>
      {jobFields}
      <Group gap={12} align="flex-start">
        <TextInput
          label={t("schedules.cron")}
          description={t("schedules.cronWords")}
          value={draft.cron}
          error={draft.cron.trim() === "" ? t("schedules.cronWrong") : cronFaultIn(t, language, wrong.cron ?? faults.cron)}
          onChange={(event) => setDraft({ ...draft, cron: event.currentTarget.value })}
          className={formClasses.code}
          w={220}
        />
        <Select
          searchable
          label={t("schedules.zone")}
          description={t("schedules.zoneWords")}
          data={zones}
          error={wrong.zone ? detailIn(t, language, wrong.zone) : refused.zone}
          value={draft.zone}
          onChange={(zone) => setDraft({ ...draft, zone: zone ?? "UTC" })}
          limit={60}
          w={220}
        />
      </Group>
      <NextRuns preview={preview} />
      <Field label={t("schedules.overlap")} description={t("schedules.overlapWords")}>
        <SegmentedControl
          mt={4}
          value={draft.overlap}
          onChange={(overlap) => setDraft({ ...draft, overlap: overlap as Schedule["overlap"] })}
          data={OVERLAPS.map((value) => ({ value, label: t(`schedules.overlaps.${value}`) }))}
        />
      </Field>
    </FormDrawer>
  )
}
