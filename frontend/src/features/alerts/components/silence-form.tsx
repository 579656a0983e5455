import { Select, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { refusedFields } from "@/lib/problem"
import { useCreateSilence } from "../api/create-silence"
import classes from "./alerts.module.css"

const HOURS = [1, 4, 12, 24, 72, 168] as const
const HOUR_MS = 3_600_000

/** A silence always has an end. */
export function SilenceForm() {
  const { t } = useTranslation()
  const format = useFormat()
  const [state, change] = useUrlState()
  const create = useCreateSilence()
  const [began] = useState(() => Date.now())
  const [draft, setDraft] = useState({ rule: state.rule ?? "*", cluster: "*", subject: state.subject ?? "*", hours: "4", reason: "" })
  const ends = began + Number(draft.hours) * HOUR_MS
  const input = { rule: draft.rule, cluster: draft.cluster, subject: draft.subject, reason: draft.reason.trim(), ends_at: new Date(ends).toISOString() }
  const refused = refusedFields(create, { ...input, starts_at: undefined })
  const close = () => change({ new: undefined, rule: undefined, subject: undefined })
  const submit = () =>
    create.mutate(input, {
      onSuccess: () => {
        toastDone(t("alerts.silenced"))
        close()
      },
      onError: (error) => toastFailed(t("alerts.notSilenced"), error, ["rule", "cluster", "subject", "ends_at", "reason"]),
    })
  const field = (name: "rule" | "cluster" | "subject", label: string) => (
    <TextInput label={label} value={draft[name]} error={refused[name]} onChange={(event) => setDraft({ ...draft, [name]: event.currentTarget.value })} />
  )
  return (
    <FormDrawer
      title={t("alerts.newSilence")}
      action={t("alerts.silence")}
      right="manage"
      isReady={input.reason !== "" && draft.rule !== "" && draft.cluster !== "" && draft.subject !== ""}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={close}
      request={{ method: "POST", path: paths.silences, body: input }}
    >
      <p className="micro">{t("alerts.silenceWords")}</p>
      <div className={classes.pair}>
        {field("rule", t("alerts.rule"))}
        {field("cluster", t("alerts.cluster"))}
        {field("subject", t("alerts.subject"))}
      </div>
      <Select
        label={t("alerts.silenceFor")}
        description={t("alerts.until", { time: format.when(ends) })}
        data={HOURS.map((hours) => ({ value: String(hours), label: format.duration(hours * HOUR_MS) }))}
        value={draft.hours}
        allowDeselect={false}
        error={refused.ends_at}
        onChange={(hours) => setDraft({ ...draft, hours: hours ?? "4" })}
        w={220}
      />
      <TextInput label={t("alerts.reason")} value={draft.reason} error={refused.reason} onChange={(event) => setDraft({ ...draft, reason: event.currentTarget.value })} />
    </FormDrawer>
  )
}
