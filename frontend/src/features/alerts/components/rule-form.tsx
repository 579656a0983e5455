import { MultiSelect, NumberInput, SegmentedControl, Select, TextInput } from "@mantine/core"
import type { TFunction } from "i18next"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Field } from "@/components/forms/field"
import { NumberField } from "@/components/forms/number-field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useAlertChannels } from "@/hooks/use-alert-channels"
import { useCluster } from "@/hooks/use-cluster"
import { useLanguage } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import type { Rule, RuleInput } from "@/lib/api-types"
import { count } from "@/lib/format"
import { rawFields } from "@/lib/problem"
import { detailIn } from "@/lib/reasons"
import { useCreateRule } from "../api/create-rule"
import { useUpdateRule } from "../api/update-rule"
import { isYesOrNo, METRICS, unitOf, WITH_HISTORY } from "../measure"
import { draftOf, faultsOf, FOR_SECONDS, inputOf, inUnits, limitsOf, newDraft, NO_DATA_SECONDS, REPEAT_MINUTES, rounded, withMetric } from "../rule-draft"
import { useRulePreview } from "../use-rule-preview"
import classes from "./alerts.module.css"
import { RulePreview } from "./rule-preview"

const SEVERITIES = ["info", "warning", "critical"] as const

/** A rule as a sentence with fields, over the last day's history; nothing is kept until it is saved. */
export function RuleForm({ rule }: { rule?: Rule }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const cluster = useCluster()
  const [draft, setDraft] = useState(() => (rule ? draftOf(rule) : newDraft(cluster, state.subject ?? "*")))
  const set = (patch: Partial<typeof draft>) => setDraft({ ...draft, ...patch })
  const create = useCreateRule()
  const update = useUpdateRule(rule?.id ?? "")
  const save = rule ? update : create
  const channels = useAlertChannels().data ?? []
  const input = inputOf(draft)
  const faults = faultsOf(draft)
  const [isNameDue, setNameDue] = useState(false)
  const refused = { ...useRefusals(rawFields(save, input as Required<RuleInput>), draft.metric), ...faultWords(t, faults, isNameDue) }
  const hasWhole = !(["cluster", "subject", "limit", "for", "noData"] as const).some((name) => faults[name])
  const preview = useRulePreview(hasWhole ? limitsOf(input) : null)
  const { unit, size } = unitOf(draft.metric)
  const isAnswer = isYesOrNo(draft.metric)
  const close = () => change({ new: undefined, edit: undefined, subject: undefined })
  const submit = () =>
    save.mutate(input, {
      onSuccess: () => {
        toastDone(t("alerts.ruleSaved", { name: input.name }))
        close()
      },
      onError: (error) => toastFailed(t("alerts.ruleNotSaved", { name: input.name }), error, ["name", "cluster", "subject", "limit", "for_ms", "no_data_after_ms", "channels", "repeat_ms", "template"]),
    })
  return (
    <FormDrawer
      title={rule ? t("alerts.editRule", { name: rule.name }) : t("alerts.newRule")}
      action={t("alerts.saveRule")}
      right="manage"
      isReady
      isValid={Object.keys(faults).length === 0}
      onInvalid={() => setNameDue(true)}
      isBusy={save.isPending}
      onSubmit={submit}
      onClose={close}
      request={rule ? { method: "PATCH", path: paths.alertRule(rule.id), body: input } : { method: "POST", path: paths.alertRules, body: input }}
    >
      <TextInput label={t("alerts.name")} value={draft.name} error={refused.name} onChange={(event) => set({ name: event.currentTarget.value })} />
      <Select label={t("alerts.metric")} data={METRICS.map((value) => ({ value, label: t(`alerts.metrics.${value}`) }))} value={draft.metric} allowDeselect={false} onChange={(metric) => metric && setDraft(withMetric(draft, metric as Rule["metric"]))} />
      <div className={classes.pair}>
        <TextInput label={t("alerts.cluster")} value={draft.cluster} error={refused.cluster} onChange={(event) => set({ cluster: event.currentTarget.value })} />
        <TextInput label={t("alerts.subject")} description={t("alerts.patternWords")} value={draft.subject} error={refused.subject} onChange={(event) => set({ subject: event.currentTarget.value })} />
        {!isAnswer && (
          <>
            <Field label={t("alerts.direction")}>
              <SegmentedControl value={draft.direction} onChange={(direction) => set({ direction: direction as Rule["direction"] })} data={(["above", "below"] as const).map((value) => ({ value, label: t(`alerts.directions.${value}`) }))} />
            </Field>
            <NumberInput
              label={unit ? t("alerts.limitIn", { unit: t(`alerts.units.${unit}`) }) : t("alerts.limit")}
              value={Number.isNaN(draft.limit) ? "" : draft.limit}
              min={0}
              thousandSeparator=","
              error={refused.limit}
              onChange={(value) => set({ limit: typeof value === "number" ? value : Number.NaN })}
            />
          </>
        )}
        <NumberField label={t("alerts.forSeconds")} {...FOR_SECONDS} value={draft.forSeconds} error={refused.for_ms} width="100%" onChange={(value) => set({ forSeconds: value ?? Number.NaN })} />
        <NumberField label={t("alerts.noDataSeconds")} {...NO_DATA_SECONDS} isOptional value={draft.noDataSeconds} error={refused.no_data_after_ms} width="100%" onChange={(noDataSeconds) => set({ noDataSeconds })} />
      </div>
      {WITH_HISTORY.includes(draft.metric) ? (
        <RulePreview query={hasWhole ? preview : null} metric={draft.metric} limit={input.limit} onLimit={(limit) => set({ limit: rounded(Math.round((100 * limit) / size) / 100) })} />
      ) : (
        <p className="micro">{t("alerts.noHistory")}</p>
      )}
      <Field label={t("alerts.severity")}>
        <SegmentedControl value={draft.severity} onChange={(severity) => set({ severity: severity as Rule["severity"] })} data={SEVERITIES.map((value) => ({ value, label: t(`alerts.severities.${value}`) }))} />
      </Field>
      <MultiSelect label={t("alerts.tabs.channels")} description={t("alerts.channelsWords")} data={channels.map(({ id, name }) => ({ value: id, label: name }))} value={draft.channels} error={refused.channels} onChange={(chosen) => set({ channels: chosen })} />
      <div className={classes.pair}>
        <NumberField label={t("alerts.repeatMinutes")} {...REPEAT_MINUTES} isOptional value={draft.repeatMinutes} error={refused.repeat_ms} width="100%" onChange={(repeatMinutes) => set({ repeatMinutes })} />
        <TextInput label={t("alerts.template")} description={t("alerts.templateWords")} value={draft.template} error={refused.template} onChange={(event) => set({ template: event.currentTarget.value })} />
      </div>
    </FormDrawer>
  )
}

/** What the server said of the fields, in their units and in the language of the reader. */
function useRefusals(fields: Readonly<Record<string, string>>, metric: Rule["metric"]): Record<string, string> {
  const { t } = useTranslation()
  const language = useLanguage()
  return Object.fromEntries(Object.entries(inUnits(fields, metric)).map(([name, detail]) => [name, detailIn(t, language, detail)]))
}

/** Words for what is wrong; an empty name is no fault before somebody tries to save it. */
function faultWords(t: TFunction, { name, cluster, subject, limit }: ReturnType<typeof faultsOf>, isNameDue: boolean): Record<string, string> {
  const shown = Object.entries({ name: isNameDue ? name : undefined, cluster, subject, limit })
  return Object.fromEntries(shown.flatMap(([field, fault]) => (fault && fault.kind !== "range" ? [[field, t(`details.${fault.kind}`, { n: "n" in fault ? count(fault.n) : "" })]] : [])))
}
