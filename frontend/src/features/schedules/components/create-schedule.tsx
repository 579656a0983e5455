import { SegmentedControl, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useZone } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { rawFields, refusedFields } from "@/lib/problem"
import type { ScheduleInput } from "@/lib/api-types"
import { zoneName } from "@/lib/time"
import { useCreateSchedule } from "../api/create-schedule"
import { cleared, refusalOf, type ScheduledJob } from "../scheduled-job"
import { useRunsPreview } from "../use-runs-preview"
import { isInBounds, type Times, TimesFields } from "./times-fields"

const TYPES = ["replay", "reconcile", "export"] as const
/** A job and when it runs; the next runs are shown before anything is kept. */
export function CreateSchedule({ jobFields, job, isJobWhole, jobName }: ScheduledJob) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const create = useCreateSchedule()
  const ownZone = zoneName(useZone())
  const [draft, setDraft] = useState<Times>({ name: "", cron: "0 3 * * *", zone: ownZone, overlap: "skip", catch_up_ms: null, jitter_ms: 0 })
  const input = { ...draft, name: draft.name || jobName, enabled: true, catch_up_ms: null, jitter_ms: 0, job } satisfies ScheduleInput
  const preview = useRunsPreview(draft.cron, draft.zone)
  const refused = refusedFields(create, input)
  const isReady = draft.cron.trim() !== "" && preview.error?.status !== 422 && isJobWhole && isInBounds(draft)
  const close = () => change(cleared(state))
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
          aria-label={t("schedules.job")}
          value={TYPES.find((type) => type === state.new) ?? "replay"}
          onChange={(type) => change({ new: type })}
          data={TYPES.map((value) => ({ value, label: t(`jobs.types.${value}`) }))}
        />
      </Field>
      {jobFields(refusalOf(create))}
      <TimesFields times={draft} preview={preview} raw={rawFields(create, input)} onChange={setDraft} />
    </FormDrawer>
  )
}
