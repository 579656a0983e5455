import { TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import type { Schedule } from "@/lib/api-types"
import { useUpdateSchedule } from "../api/update-schedule"

const LONGEST = 1_000

/** Pauses a schedule, and tells the others why. */
export function PauseSchedule({ schedule: { id, name, etag }, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { t } = useTranslation()
  const update = useUpdateSchedule(id, etag)
  const [reason, setReason] = useState("")
  const body = { enabled: false, ...(reason.trim() && { stopped_reason: reason.trim() }) }
  const submit = () =>
    update.mutate(body, {
      onSuccess: () => {
        toastDone(t("schedules.paused", { name }))
        onClose()
      },
      onError: (error) => toastFailed(t("schedules.notChanged", { name }), error),
    })
  return (
    <FormDrawer
      title={t("schedules.pauseTitle")}
      action={t("schedules.pauseNamed", { name })}
      right="jobs"
      isReady
      isBusy={update.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "PATCH", path: paths.schedule(id), body }}
    >
      <p className="dense">{t("schedules.pauseWords")}</p>
      <TextInput label={t("schedules.reason")} description={t("schedules.reasonWords")} maxLength={LONGEST} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
    </FormDrawer>
  )
}
