import type { TFunction } from "i18next"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import { MinutesField } from "@/components/wizard/minutes-field"
import type { WizardStep } from "@/components/wizard/wizard"
import { useCluster } from "@/hooks/use-cluster"
import { type UrlState, useUrlState } from "@/hooks/use-url-state"
import type { JobRequest, Topic } from "@/lib/api-types"
import { count } from "@/lib/format"
import { checkOf, faultsOf, isCheck, reconcileOf, type ReconcileRequest } from "../request"
import { areSame, hasOwnRange, isSideWhole, isTimeMissing, type SideName, SIDES, titleOfSide } from "../sides"
import { useRangeWords } from "../use-range-words"
import { CompareFields, ConditionFields } from "./compare-fields"
import { JobWizard, NameField } from "./job-wizard"
import { DamageField, RangeFields } from "./request-fields"
import { RightRange } from "./right-range"
import { type Choices, SideFields, WhatField } from "./side-fields"
import { StartDecision, useTimeFacts } from "./start-decision"

interface ReconcileWizardProps {
  clusters: string[]
  choices: Record<SideName, Choices>
  /** What is known of the topics of both sides, by the feature that knows them. */
  left: Topic | undefined
  right: Topic | undefined
}

export function ReconcileWizard(props: ReconcileWizardProps) {
  const [state] = useUrlState()
  return isCheck(state) ? <CheckWizard /> : <SidesWizard {...props} />
}

function SidesWizard({ clusters, choices, left, right }: ReconcileWizardProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const cluster = useCluster()
  const request = reconcileOf(state, cluster)
  const isChosen = isSideWhole(request.left) && isSideWhole(request.right)
  const name = t("jobs.reconcileName", { left: titleOfSide(request.left), right: titleOfSide(request.right) })
  const leftRange = useRangeWords({ source: { topic: "", ...bounds(request.left) } })
  const rightRange = useRangeWords({ source: { topic: "", ...bounds(request.right) } })
  const ranges = hasOwnRange(state) ? [leftRange, rightRange] : [leftRange]
  const faults = faultsOf(state)
  const steps: WizardStep[] = [
    {
      id: "sides",
      parts: SIDES.flatMap((side) => ["kind", "topic", "group", "cluster", "path", "connection", "table", "query"].map((field) => `${side}.${field}`)),
      label: t("jobs.steps.sides"),
      choice: isChosen ? `${titleOfSide(request.left)}${t("list.comma")}${titleOfSide(request.right)}` : undefined,
      isReady: isChosen && !areSame(request.left, request.right),
      fields: (
        <>
          <WhatField state={state} onChange={change} />
          {SIDES.map((side) => (
            <SideFields key={side} side={side} state={state} clusters={clusters} choices={choices[side]} onChange={change} />
          ))}
          {areSame(request.left, request.right) && <Callout tone="crit">{t("jobs.sameSides")}</Callout>}
        </>
      ),
    },
    {
      id: "range",
      parts: ["left", "right"],
      label: t("jobs.steps.range"),
      choice: ranges.join(t("list.comma")),
      isReady: !BOUNDS.some((bound) => faults[bound]),
      fields: (
        <>
          <RangeFields path="left" state={state} onChange={change} />
          <RightRange state={state} onChange={change}>
            <RangeFields path="right" state={state} onChange={change} />
          </RightRange>
          <TimeWords state={state} />
          <ConditionFields state={state} onChange={change} />
        </>
      ),
    },
    {
      id: "compare",
      parts: ["by", "compare", "order", "multiset", "lateness_ms", "limits", "on_damage"],
      label: t("jobs.steps.compare"),
      choice: byWords(t, request.by),
      isReady: Object.keys(faults).length === 0,
      fields: (
        <>
          <CompareFields state={state} onChange={change} />
          <MinutesField />
          <DamageField state={state} onChange={change} />
        </>
      ),
    },
    { id: "start", label: t("jobs.steps.start"), isReady: true, fields: <NameField placeholder={name} /> },
  ]
  return (
    <JobWizard
      title={isChosen ? name : t("jobs.newReconcile")}
      request={request}
      steps={steps}
      decision={<Decision request={request} most={mostOf(request, left, right)} ranges={ranges} />}
    />
  )
}

const BOUNDS = ["from", "to", "rfrom", "rto", "ltime", "rtime"] as const

const bounds = ({ from, to }: ReconcileRequest["left"]) => ({ ...(from && { from }), ...(to && { to }) })

const byWords = (t: TFunction, by: ReconcileRequest["by"] = "key"): string => (typeof by === "string" ? t(`jobs.by_.${by}`) : by.left && by.right ? `${by.left} = ${by.right}` : "")

/** A range of rows needs the column of their time, which is a field of the step before. */
function TimeWords({ state }: { state: UrlState }) {
  const { t } = useTranslation()
  return SIDES.some((side) => isTimeMissing(state, side)) ? <Callout tone="crit">{t("jobs.faults.time")}</Callout> : null
}

function CheckWizard() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const cluster = useCluster()
  const request = checkOf(state, cluster)
  const name = t("sides.checkName", { cluster })
  return (
    <JobWizard
      title={name}
      request={request}
      steps={[
        {
          id: "sides",
          parts: ["check", "cluster", "limits"],
          label: t("jobs.steps.sides"),
          choice: t("sides.whats.store"),
          isReady: !faultsOf(state).minutes,
          fields: (
            <>
              <WhatField state={state} onChange={change} />
              <MinutesField />
            </>
          ),
        },
        { id: "start", label: t("jobs.steps.start"), isReady: true, fields: <NameField placeholder={name} /> },
      ]}
      decision={
        <Started
          request={request}
          most={null}
          facts={[
            [t("jobs.reads"), t("sides.wholeStore")],
            [t("jobs.writes"), t("jobs.writesNothing")],
          ]}
          action={t("sides.checkStart")}
        />
      }
    />
  )
}

function Decision({ request, most, ranges: [range, rightRange] }: { request: ReconcileRequest; most: number | null; ranges: string[] }) {
  const { t } = useTranslation()
  const areTopics = SIDES.every((side) => (request[side].kind ?? "topic") === "topic")
  return (
    <Started
      request={request}
      most={most}
      facts={[
        [t("jobs.left"), titleOfSide(request.left)],
        [t("jobs.right"), titleOfSide(request.right)],
        [t("jobs.range"), range],
        ...(rightRange === undefined ? [] : [[t("sides.rightRange"), rightRange] satisfies [string, ReactNode]]),
        [t("jobs.joinBy"), byWords(t, request.by)],
        [t("jobs.writes"), t("jobs.writesNothing")],
      ]}
      action={areTopics ? t("jobs.reconcileStart") : t("sides.start")}
    />
  )
}

function Started({ request, most, facts, action }: { request: JobRequest; most: number | null; facts: [string, ReactNode][]; action: string }) {
  const { t } = useTranslation()
  return <StartDecision request={request} hero={most === null ? "—" : count(most)} heroWords={most === null ? t("jobs.amountUnknown") : t("jobs.atMostRead")} facts={[...facts, ...useTimeFacts(request)]} action={action} />
}

/** The most messages that it reads; unknown where a side has rows that nobody counted, or a topic that is not known. */
function mostOf(request: ReconcileRequest, left: Topic | undefined, right: Topic | undefined): number | null {
  const counts = [request.left.topic ? (left?.messages ?? null) : null, request.right.topic ? (right?.messages ?? null) : null]
  return counts.includes(null) ? null : counts.reduce<number>((sum, messages) => sum + (messages ?? 0), 0)
}
