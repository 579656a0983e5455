import { Button, Group, TextInput } from "@mantine/core"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { Callout } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { LOCAL_CLUSTER } from "@/hooks/use-cluster"
import { useUrlState } from "@/hooks/use-url-state"
import type { JobRequest, Schedule, ScheduleInput } from "@/lib/api-types"
import { rawFields, refusedFields } from "@/lib/problem"
import { useUpdateSchedule } from "../api/update-schedule"
import { cleared, type JobForm, refusalOf, type ScheduledJob } from "../scheduled-job"
import { useRunsPreview } from "../use-runs-preview"
import { isInBounds, type Times, TimesFields } from "./times-fields"

interface EditScheduleProps {
  /** As the list has it now. */
  schedule: Schedule
  jobForm: JobForm
  onClose: () => void
}

/** Other times for a schedule, or another job: both changes hold for what was shown when the form was opened. */
export function EditSchedule({ schedule, jobForm, onClose }: EditScheduleProps) {
  const [state, change] = useUrlState()
  const [opened, setOpened] = useState(schedule)
  // The address keeps what was typed of a job also over a reload of the page, so it keeps the version that this belongs to.
  const etag = state.new === undefined ? opened.etag : (state.opened ?? opened.etag)
  const props = {
    opened,
    etag,
    isStale: schedule.etag !== etag,
    onLoad: () => {
      change({ ...cleared(state), edit: schedule.id })
      setOpened(schedule)
    },
    onClose,
    jobForm,
  }
  if (state.new === undefined) return <Form key={schedule.id + opened.etag} {...props} />
  return jobForm.render((edited) => <Form key={schedule.id + opened.etag} {...props} edited={edited} />)
}

interface FormProps {
  opened: Schedule
  etag: string
  /** Whether the schedule was changed since it was opened. */
  isStale: boolean
  jobForm: JobForm
  edited?: ScheduledJob
  onLoad: () => void
  onClose: () => void
}

function Form({ opened, etag, isStale, jobForm, edited, onLoad, onClose }: FormProps) {
  const { t } = useTranslation()
  const update = useUpdateSchedule(opened.id, etag)
  const { name, cron, zone, overlap, catch_up_ms, jitter_ms } = opened
  const [times, setTimes] = useState<Times>({ name, cron, zone, overlap, catch_up_ms, jitter_ms })
  const preview = useRunsPreview(times.cron, times.zone)
  const changes: Partial<ScheduleInput> = { ...times, ...(edited && jobForm.isOther(opened.job as JobRequest, edited.job) && { job: edited.job }) }
  const isReady = times.name.trim() !== "" && times.cron.trim() !== "" && preview.error?.status !== 422 && isInBounds(times) && (edited?.isJobWhole ?? true) && !isStale
  const submit = () =>
    update.mutate(changes, {
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
      request={{ method: "PATCH", path: paths.schedule(opened.id), body: changes, tag: etag }}
      notice={
        isStale &&
        !update.isPending &&
        !update.isSuccess && (
          <Callout tone="crit">
            {t("schedules.changedSince")}{" "}
            <Button variant="subtle" size="compact-sm" onClick={onLoad}>
              {t("schedules.loadAnew")}
            </Button>
          </Callout>
        )
      }
    >
      <TextInput label={t("schedules.name")} value={times.name} error={refusedFields(update, changes).name} onChange={(event) => setTimes({ ...times, name: event.currentTarget.value })} />
      <TimesFields times={times} preview={preview} raw={rawFields(update, changes)} onChange={setTimes} />
      {edited ? <EditedJob opened={opened}>{edited.jobFields(refusalOf(update))}</EditedJob> : <StoredJob opened={opened} jobForm={jobForm} />}
    </FormDrawer>
  )
}

/** The job as it is stored, and the way to change it. */
function StoredJob({ opened: { id, etag, ...opened }, jobForm }: Pick<FormProps, "opened" | "jobForm">) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const job = opened.job as JobRequest
  const form = jobForm.formOf(job)
  const edit = () => change({ ...cleared(state), ...form.state, cluster: job.cluster === LOCAL_CLUSTER ? undefined : job.cluster, edit: id, opened: etag, new: job.type })
  return (
    <Field label={t("schedules.job")} {...(form.lost.length > 0 && { description: t("schedules.jobNotEditable", { fields: form.lost.join(t("list.comma")), path: paths.schedule(id) }) })}>
      <CodeBlock plain wrap language="json" text={JSON.stringify(job, null, 2)} />
      {form.lost.length === 0 && (
        <Button mt={8} onClick={edit}>
          {t("schedules.editJob")}
        </Button>
      )}
    </Field>
  )
}

function EditedJob({ opened: { id, job }, children }: Pick<FormProps, "opened"> & { children: ReactNode }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  return (
    <>
      <Group justify="space-between">
        <h3>{t("schedules.jobOf", { type: t(`jobs.types.${(job as JobRequest).type}`) })}</h3>
        <Button variant="subtle" size="compact-sm" onClick={() => change({ ...cleared(state), edit: id })}>
          {t("schedules.keepJob")}
        </Button>
      </Group>
      {children}
    </>
  )
}
