import { Button } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Wizard, type WizardStep } from "@/components/wizard/wizard"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import { useMay } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"
import type { RedriveAsked } from "@/lib/api-types"
import { count } from "@/lib/format"
import { isInstant } from "@/lib/time"
import { useNativeClients } from "../api/get-native-clients"
import { isRedriveWhole, redriveFaults, redriveOf } from "../redrive"
import { useRehearsal } from "../use-rehearsal"
import { type Destination, usualOf } from "../wish"
import { RedriveDecision } from "./redrive-decision"
import { LimitFields, SendFields, WhichFields } from "./redrive-fields"
import { WouldSend } from "./would-send"

interface RedriveWizardProps {
  cluster: string
  topics: readonly string[]
}

/** The redrive of a group's dead letters, step by step; a dry run keeps itself up to date below each of them. */
export function RedriveWizard({ cluster, topics }: RedriveWizardProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [state] = useUrlState()
  const { group } = state
  const clients = useNativeClients(cluster, group === undefined ? [] : [group])
  const usual = useMay("bodies") ? usualOf(clients) : "failed_group"
  const asked = redriveOf(state, usual)
  const isWhole = isRedriveWhole(state, asked)
  // Until its clients are known, the usual destination of a group may still become another one.
  const isSettled = state.send !== undefined || !clients.includes(undefined)
  const { preview, refusals } = useRehearsal(cluster, group, asked, isWhole && isSettled)
  const steps = useSteps(cluster, topics, usual, asked)
  const would = preview && <WouldSend query={preview} group={group ?? ""} />
  return (
    <Wizard
      title={group === undefined ? t("redriveWizard.title") : t("redriveWizard.titleOf", { group })}
      right="redrive"
      // The command is read before there is a group: the name to put in stands in its place.
      path={paths.deadLetterRedrive(cluster, group ?? "GROUP")}
      request={asked}
      hasFault={redriveFaults(state).size > 0}
      refusals={refusals}
      actions={<Button onClick={() => void navigate({ to: "/jobs" })}>{t("jobs.discard")}</Button>}
      touched={Object.fromEntries(steps.map(({ id }) => [id, would]))}
      steps={steps}
      decision={<RedriveDecision cluster={cluster} group={group ?? ""} asked={asked} isWhole={isWhole} preview={preview} />}
    />
  )
}

function useSteps(cluster: string, topics: readonly string[], usual: Destination, asked: RedriveAsked): WizardStep[] {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const range = useRange()
  const mayHandOn = useMay("bodies")
  const faults = redriveFaults(state)
  const { to, topic } = asked.target
  const { max_minutes } = asked.limits
  return [
    {
      id: "which",
      parts: ["filter"],
      label: t("redriveWizard.which"),
      choice: state.group && `${state.group}${t("list.comma")}${range}`,
      isReady: state.group !== undefined && !faults.has("from") && !faults.has("to"),
      fields: <WhichFields cluster={cluster} />,
    },
    {
      id: "send",
      parts: ["target", "allow_live_target"],
      label: t("deadLetters.sendTo"),
      choice: to === "other" ? topic : t(`deadLetters.destinations.${to}`),
      isReady: to !== "other" || Boolean(topic),
      fields: <SendFields topics={topics} usual={usual} mayHandOn={mayHandOn} />,
    },
    {
      id: "limits",
      parts: ["limits", "originals"],
      label: t("jobs.steps.limits"),
      choice: [t("jobs.atMost", { n: count(asked.limits.messages_per_second) }), ...(max_minutes ? [t("jobs.minutes", { n: count(max_minutes) })] : [])].join(t("list.comma")),
      isReady: !faults.has("rate") && !faults.has("max") && !faults.has("minutes"),
      fields: <LimitFields />,
    },
    { id: "start", label: t("jobs.steps.start"), isReady: true, fields: <p className="dense">{t("redriveWizard.originalsStay")}</p> },
  ]
}

/** The range of the address in words. */
function useRange(): string {
  const { t } = useTranslation()
  const format = useFormat()
  const [{ from, to }] = useUrlState()
  const words = (at: string | undefined, open: string) => (at === undefined ? open : isInstant(at) ? format.when(at) : at)
  return `${words(from, t("messages.oldest"))} – ${words(to, t("time.present"))}`
}
