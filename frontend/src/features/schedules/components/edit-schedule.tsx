import { TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Schedule } from "@/lib/api-types"
import { rawFields, refusedFields } from "@/lib/problem"
import { useUpdateSchedule } from "../api/update-schedule"
import { useRunsPreview } from "../use-runs-preview"
import { isInBounds, type Times, TimesFields } from "./times-fields"

/** Other times for a schedule; its job stays as it is, for another job is another schedule. */
export function EditSchedule({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { t } = useTranslation()
  const update = useUpdateSchedule(schedule.id)
  const { name, cron, zone, overlap, catch_up_ms, jitter_ms } = schedule
  const [times, setTimes] = useState<Times>({ name, cron, zone, overlap, catch_up_ms, jitter_ms })
  const preview = useRunsPreview(times.cron, times.zone)
  const isReady = times.name.trim() !== "" && times.cron.trim() !== "" && preview.error?.status !== 422 && isInBounds(times)
  const submit = () =>
    update.mutate(times, {
      onSuccess: () => {
        toastDone(t("schedules.changed", { name: times.name }))
        onClose()
      },
      onError: (error) => toastFailed(t("schedules.notChanged", { name }), error, ["name", "zone"]),
    })
  return (
    <FormDrawer
      title={t("schedules.edit")}
      action={t("schedules.save", { name: times.name })}
      right="jobs"
      isReady={isReady}
      isBusy={update.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "PATCH", path: paths.schedule(schedule.id), body: times }}
    >
      <TextInput label={t("schedules.name")} value={times.name} error={refusedFields(update, times).name} onChange={(event) => setTimes({ ...times, name: event.currentTarget.value })} />
      <TimesFields times={times} preview={preview} raw={rawFields(update, times)} onChange={setTimes} />
      <Field label={t("schedules.job")} description={t("schedules.jobStays")}>
        <CodeBlock plain wrap language="json" text={JSON.stringify(schedule.job, null, 2)} />
      </Field>
    </FormDrawer>
  )
}
