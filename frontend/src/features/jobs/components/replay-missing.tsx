import { Button, Checkbox, Group, TextInput } from "@mantine/core"
import { IconPlayerTrackNext } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { Callout, Definitions } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job, MissingRequest } from "@/lib/api-types"
import { count } from "@/lib/format"
import { asProblem } from "@/lib/problem"
import { detailIn } from "@/lib/reasons"
import { useCreateJob } from "../api/create-job"
import { jobNameOf } from "../job-name"
import { MOST_PER_SECOND, type ReconcileRequest } from "../request"
import { titleOfSide } from "../sides"
import { type DryRun, useDryRun } from "../use-dry-run"
import { DryRunState } from "./dry-run-state"
import { useForecastFacts } from "./forecast-figures"
import { ForecastTables } from "./forecast-tables"

const RANGE = { min: 1, max: MOST_PER_SECOND }

/** The way to a replay of what the right side lacks; it counts what it will send. */
export function ReplayMissingButton({ missing }: { missing: number }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  return (
    <NeedsRight right="jobs">
      <Button size="xs" leftSection={<IconPlayerTrackNext size={14} stroke={1.6} />} onClick={() => change({ sample: undefined, missing: "replay" })}>
        {t("reconcile.replayMissing", { count: missing, n: count(missing) })}
      </Button>
    </NeedsRight>
  )
}

/** Replays exactly the messages that a reconciliation found missing. */
export function ReplayMissing({ job, missing }: { job: Job; missing: number }) {
  const { t } = useTranslation()
  const { left, right } = job.request as Partial<ReconcileRequest>
  const isTopic = (right?.kind ?? "topic") === "topic"
  const names = { left: left?.topic ?? "", right: titleOfSide(right), cluster: right?.cluster ?? job.cluster }
  return (
    <ReplayNamed
      job={job}
      named={missing}
      topic={left?.topic ?? ""}
      // Where the right side is no topic, nothing says where to.
      isTargetAsked={!isTopic}
      title={t("reconcile.replayTitle")}
      words={t(isTopic ? "reconcile.replayWordsTo" : "reconcile.replayWords", names)}
    />
  )
}

interface ReplayNamedProps {
  job: Job
  named: number
  /** Where they are. */
  topic: string
  isTargetAsked?: boolean
  /** Where to and how, if not as the job says. */
  target?: MissingRequest["target"]
  title: string
  words: string
  children?: ReactNode
}

/** Replays exactly the messages that a job names, after a dry run of the same. */
export function ReplayNamed({ job, named, topic: source, isTargetAsked: isAsked = false, target, title, words, children }: ReplayNamedProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [, change] = useUrlState()
  const path = paths.jobReplayMissing(job.id)
  const [rate, setRate] = useState<number>()
  const [topic, setTopic] = useState("")
  const [isAllowed, setAllowed] = useState(false)
  const create = useCreateJob(path)
  const to = isAsked ? { topic: topic.trim() } : target
  const request: MissingRequest = { ...(to && { target: to }), ...(rate !== undefined && { limits: { messages_per_second: rate } }), ...(isAllowed && { allow_live_target: true }) }
  const dryRun = useDryRun(request, path)
  const { forecast } = dryRun
  const amount = forecast?.messages ?? named
  const submit = () =>
    create.mutate(request, {
      onSuccess: (made) => {
        toastDone(t("jobs.startedToast", { name: jobNameOf(t, made) }))
        void navigate({ to: "/jobs/$job", params: { job: made.id }, search: {} })
      },
      onError: (error) => toastFailed(t("jobs.notStarted"), error),
    })
  return (
    <FormDrawer
      title={title}
      action={t("jobs.replayN", { count: amount, n: count(amount) })}
      right="jobs"
      isReady={(rate === undefined || isWithin(rate, RANGE)) && request.target?.topic !== ""}
      isBusy={create.isPending}
      onSubmit={submit}
      onClose={() => change({ missing: undefined, dry: undefined })}
      request={{ method: "POST", path, body: request }}
    >
      <p className="dense">{words}</p>
      {children}
      {isAsked && <TargetTopic value={topic} error={create.error} onChange={setTopic} />}
      <NumberField label={t("jobs.perSecond")} description={t("jobs.perSecondWords")} value={rate} {...RANGE} isOptional onChange={setRate} />
      <ReadBy error={create.error} isAllowed={isAllowed} onAllow={setAllowed} />
      <Preview dryRun={dryRun} topic={source} />
    </FormDrawer>
  )
}

function TargetTopic({ value, error, onChange }: { value: string; error: unknown; onChange: (topic: string) => void }) {
  const { t } = useTranslation()
  return <TextInput label={t("jobs.targetTopic")} value={value} error={error ? asProblem(error).fields["target.topic"] : undefined} onChange={(event) => onChange(event.currentTarget.value)} />
}

interface ReadByProps {
  error: unknown
  isAllowed: boolean
  onAllow: (isAllowed: boolean) => void
}

/** The server knows which groups read the target, and names them when it refuses. */
function ReadBy({ error, isAllowed, onAllow }: ReadByProps) {
  const { t, i18n } = useTranslation()
  const why = error ? asProblem(error).fields.allow_live_target : undefined
  if (!why) return null
  return (
    <Callout>
      {detailIn(t, i18n.language, why)}
      <Checkbox mt={8} label={t("jobs.allowLive")} checked={isAllowed} onChange={(event) => onAllow(event.currentTarget.checked)} />
    </Callout>
  )
}

function Preview({ dryRun, topic }: { dryRun: DryRun; topic: string }) {
  const { t } = useTranslation()
  const { forecast } = dryRun
  const facts = useForecastFacts(forecast)
  return (
    <>
      <DryRunState dryRun={dryRun} />
      {facts.length > 0 && <Definitions items={facts} />}
      <Group>
        <Button loading={dryRun.isRunning} onClick={dryRun.start}>
          {t(forecast || dryRun.isOld ? "forecast.again" : "forecast.run")}
        </Button>
      </Group>
      {forecast && <ForecastTables forecast={forecast} topic={topic} />}
    </>
  )
}
