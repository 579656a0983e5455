import { Button, Stack, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { Callout, Definitions } from "@/components/layout/panel"
import { NotApplicable } from "@/components/values/num"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useLanguage } from "@/hooks/use-format"
import type { BrokerSetting, SettingChange } from "@/lib/api-types"
import { asProblem } from "@/lib/problem"
import { detailIn, reasonIn } from "@/lib/reasons"
import { isAccepted } from "../accepted"
import { usePreviewSettings } from "../api/preview-broker-settings"
import { useUpdateSettings } from "../api/update-broker-settings"
import { useMeaning, useValue } from "./setting-words"

interface ChangeSettingProps {
  cluster: string
  broker: string
  /** Which process of the name; 0 is the master. */
  replica: number
  setting: BrokerSetting
  onClose: () => void
}

/** One setting: checked by the broker's rules first, then changed, read back, and put back when that was wrong. */
export function ChangeSetting({ cluster, broker, replica, setting, onClose }: ChangeSettingProps) {
  const { name, value, unit } = setting
  const { t } = useTranslation()
  const [text, setText] = useState(value ?? "")
  const preview = usePreviewSettings(cluster, broker, replica)
  const update = useUpdateSettings(cluster, broker, replica)
  const settings = { [name]: text.trim() }
  const planned = preview.variables?.[name] === text.trim() ? preview.data?.changes[0] : undefined
  const wanted = planned?.wanted ?? text.trim()
  const fault = useFault(setting, text, [preview, update])
  const notChanged = (error: unknown) => {
    if (!(fieldOf(name) in asProblem(error).fields)) toastFailed(t("brokers.notChanged", { name }), error)
  }
  const submit = () => (planned ? update.mutate(settings, { onError: notChanged }) : preview.mutate(settings, { onError: notChanged }))
  const changed = update.data?.changes.find((change) => change.name === name)
  return (
    <FormDrawer
      title={t("brokers.changeTitle", { name, broker })}
      action={planned ? t("brokers.changeTo", { name, value: wanted }) : t("brokers.preview")}
      right="admin"
      isReady={text.trim() !== "" && isAccepted(setting.accepts, text) && planned?.result !== "same"}
      isBusy={preview.isPending || update.isPending}
      onSubmit={submit}
      onClose={onClose}
      request={{ method: "PATCH", path: paths.brokerSettings(cluster, broker, replica), body: { settings } }}
      answer={changed && <Changed cluster={cluster} broker={broker} replica={replica} change={changed} unit={unit} onClose={onClose} />}
    >
      <Fields setting={setting} text={text} fault={fault} onText={setText} />
      {planned && <Planned change={planned} unit={unit} />}
    </FormDrawer>
  )
}

const fieldOf = (name: string) => `settings.${name}`

interface Sent {
  error: unknown
  variables: Record<string, string> | undefined
}

/** What is wrong with the text in the field: what the setting does not take, or what the server said of just this text. */
function useFault({ name, accepts }: BrokerSetting, text: string, requests: Sent[]): string | null {
  const { t } = useTranslation()
  const language = useLanguage()
  if (text.trim() === "") return null
  if (!isAccepted(accepts, text)) return t("details.notAccepted", { value: text.trim(), accepted: reasonIn(t, accepts ?? "") })
  const refused = requests.find(({ error, variables }) => error && variables?.[name] === text.trim())
  const detail = refused && asProblem(refused.error).fields[fieldOf(name)]
  return detail === undefined ? null : detailIn(t, language, detail)
}

interface FieldsProps {
  setting: BrokerSetting
  text: string
  fault: string | null
  onText: (text: string) => void
}

function Fields({ setting: { name, value, default: usual, unit, accepts, risk }, text, fault, onText }: FieldsProps) {
  const { t } = useTranslation()
  const meaning = useMeaning()(name)
  const write = useValue()
  const rule = reasonIn(t, accepts ?? "")
  return (
    <>
      {meaning !== "" && <p>{meaning}</p>}
      <TextInput
        label={t("brokers.newValue")}
        description={unit ? t("brokers.acceptsUnit", { accepts: rule, unit: t(`brokers.units.${unit}`) }) : t("brokers.accepts", { accepts: rule })}
        value={text}
        error={fault}
        onChange={(event) => onText(event.currentTarget.value)}
        autoFocus
      />
      <Definitions items={[[t("brokers.now"), write(value ?? "", unit)], [t("brokers.default"), usual === null ? <NotApplicable /> : write(usual, unit)]]} />
      {risk && <Callout>{t(`brokers.risks.${risk}`)}</Callout>}
    </>
  )
}

interface PlannedProps {
  change: SettingChange
  unit: BrokerSetting["unit"]
}

function Planned({ change: { before, wanted, effect, result }, unit }: PlannedProps) {
  const { t } = useTranslation()
  const write = useValue()
  if (result === "same") return <p>{t("brokers.same")}</p>
  return <p>{t("brokers.planned", { before: write(before, unit), wanted: write(wanted, unit), effect: t(`brokers.effects.${effect}`) })}</p>
}

interface ChangedProps extends PlannedProps {
  cluster: string
  broker: string
  replica: number
  onClose: () => void
}

/** What the broker said after the change, and the way back. */
function Changed({ cluster, broker, replica, change: { name, before, after, effect, result }, unit, onClose }: ChangedProps) {
  const { t } = useTranslation()
  const write = useValue()
  const undo = useUpdateSettings(cluster, broker, replica)
  const putBack = () =>
    undo.mutate(
      { [name]: before },
      {
        onSuccess: () => {
          toastDone(t("brokers.undone", { name, value: write(before, unit) }))
          onClose()
        },
        onError: (error) => toastFailed(t("brokers.notChanged", { name }), error),
      },
    )
  if (result === "ignored") return <Callout tone="crit">{t("brokers.ignored", { broker, name, value: write(after ?? "", unit) })}</Callout>
  return (
    <Stack gap={14} align="flex-start">
      <p>{t("brokers.changed", { name, before: write(before, unit), after: write(after ?? "", unit), effect: t(`brokers.effects.${effect}`) })}</p>
      <Button loading={undo.isPending} onClick={putBack}>
        {t("brokers.undo")}
      </Button>
    </Stack>
  )
}
