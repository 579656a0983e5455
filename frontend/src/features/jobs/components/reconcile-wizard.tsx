import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { useCluster } from "@/hooks/use-cluster"
import { useFormat } from "@/hooks/use-format"
import { type UrlState, useUrlState } from "@/hooks/use-url-state"
import type { Topic } from "@/lib/api-types"
import { count } from "@/lib/format"
import { isInstant } from "@/lib/time"
import { faultsOf, reconcileOf, type TopicsRequest } from "../request"
import { type FieldsProps, RangeFields, TopicSelect } from "./request-fields"
import { CompareFields, ConditionFields } from "./compare-fields"
import { StartDecision } from "./start-decision"
import { NameField, Wizard } from "./wizard"

interface ReconcileWizardProps {
  topics: string[]
  left: Topic | undefined
  right: Topic | undefined
}

export function ReconcileWizard({ topics, left, right }: ReconcileWizardProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const request = reconcileOf(state, useCluster())
  const name = t("jobs.reconcileName", { left: request.left.topic, right: request.right.topic })
  const range = useRangeWords(request)
  return (
    <Wizard
      title={hasSides(state) ? name : t("jobs.newReconcile")}
      request={request}
      steps={[
        {
          id: "sides",
          label: t("jobs.steps.sides"),
          choice: hasSides(state) ? `${state.left}${t("list.comma")}${state.right}` : undefined,
          isReady: hasSides(state) && state.left !== state.right,
          fields: <SidesFields state={state} topics={topics} onChange={change} />,
        },
        { id: "range", label: t("jobs.steps.range"), choice: range, isReady: !BOUNDS.some((name) => faultsOf(state)[name]), fields: <><RangeFields path="left" state={state} onChange={change} /><ConditionFields state={state} onChange={change} /></> },
        {
          id: "compare",
          label: t("jobs.steps.compare"),
          choice: byWords(t, request.by),
          isReady: Object.keys(faultsOf(state)).length === 0,
          fields: <CompareFields state={state} onChange={change} />,
        },
        { id: "start", label: t("jobs.steps.start"), isReady: true, fields: <NameField placeholder={name} /> },
      ]}
      decision={<Decision request={request.name ? request : { ...request, name }} most={mostOf(left, right)} range={range} />}
    />
  )
}

const BOUNDS = ["from", "to", "rfrom", "rto"] as const

const byWords = (t: TFunction, by: TopicsRequest["by"]): string => (typeof by === "string" ? t(`jobs.by_.${by}`) : `${by.left} = ${by.right}`)

const hasSides = (state: UrlState): boolean => Boolean(state.left && state.right)

function SidesFields({ state, topics, onChange }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <TopicSelect label={t("jobs.left")} description={t("jobs.leftWords")} value={state.left} topics={topics} onChange={(left) => onChange({ left })} />
      <TopicSelect label={t("jobs.right")} description={t("jobs.rightWords")} value={state.right} topics={topics} onChange={(right) => onChange({ right })} />
      {state.left && state.left === state.right && <Callout tone="crit">{t("jobs.sameSides")}</Callout>}
    </>
  )
}

function Decision({ request, most, range }: { request: TopicsRequest; most: number | null; range: string }) {
  const { t } = useTranslation()
  return (
    <StartDecision
      request={request}
      hero={most === null ? "—" : count(most)}
      heroWords={most === null ? t("jobs.amountUnknown") : t("jobs.atMostRead")}
      facts={[
        [t("jobs.left"), request.left.topic],
        [t("jobs.right"), request.right.topic],
        [t("jobs.range"), range],
        [t("jobs.joinBy"), byWords(t, request.by)],
        [t("jobs.writes"), t("jobs.writesNothing")],
      ]}
      action={t("jobs.reconcileStart")}
    />
  )
}

function mostOf(left: Topic | undefined, right: Topic | undefined): number | null {
  const counts = [left?.messages ?? null, right?.messages ?? null]
  return counts.includes(null) ? null : counts.reduce<number>((sum, messages) => sum + (messages ?? 0), 0)
}

function useRangeWords({ left }: TopicsRequest): string {
  const { t } = useTranslation()
  const format = useFormat()
  const written = (moment: string) => (isInstant(moment) ? format.when(moment) : moment)
  return `${left.from ? written(left.from) : t("messages.oldest")} – ${left.to ? written(left.to) : t("time.present")}`
}
