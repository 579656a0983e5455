import { Button, Checkbox } from "@mantine/core"
import { IconPlayerPlay } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { GroupState } from "@/components/badges/group-state"
import { NeedsRight } from "@/components/forms/lock"
import { Definitions, Panel } from "@/components/layout/panel"
import { Unknown } from "@/components/values/num"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useUrlState } from "@/hooks/use-url-state"
import type { GroupSummary, JobRequest } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useCreateJob } from "../api/create-job"
import { jobNameOf } from "../job-name"
import { asProblem } from "@/lib/problem"
import { useRefusals } from "@/components/wizard/refusals"
import { lackOf } from "../request"
import { useNotifyFacts } from "./notify-fields"
import classes from "./jobs.module.css"
import { RefusedFields } from "@/components/wizard/refused-fields"

interface StartDecisionProps {
  request: JobRequest
  /** One number, as large as it matters, and what it counts. */
  hero: ReactNode
  heroWords: string
  facts: [string, ReactNode][]
  /** What writes to a topic: the groups that will see it, and those of which that is known. */
  written?: Written | undefined
  action: string
  /** How the dry run stands, above the number. */
  dryRun?: ReactNode
  /** What else can be done, beside the button. */
  second?: ReactNode
}

export interface Written {
  /** Absent while nobody knows. */
  seenBy: GroupSummary[] | undefined
  known: ReadonlySet<string>
  onKnown: (group: string, isKnown: boolean) => void
}

/** Whether each group that is there, and would get the copies, is known to its user; never while nobody knows which they are. */
export const areAllKnown = ({ seenBy, known }: Omit<Written, "onKnown">): boolean => seenBy !== undefined && liveOf(seenBy).every(({ name }) => known.has(name))

const liveOf = (groups: GroupSummary[]): GroupSummary[] => groups.filter(({ clients, lease_consumers: callers }) => (clients ?? 0) + (callers?.length ?? 0) > 0)

/** How long the job may work, if that is limited. */
export function useTimeFacts({ limits }: JobRequest): [string, ReactNode][] {
  const { t } = useTranslation()
  return limits?.max_minutes ? [[t("jobs.longest"), t("jobs.minutes", { n: count(limits.max_minutes) })]] : []
}

/** One number, the facts, who else is affected, a tick for each thing one should know, then the button. */
export function StartDecision({ request, hero, heroWords, facts, written, action, dryRun, second }: StartDecisionProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [state] = useUrlState()
  const create = useCreateJob()
  const { note } = useRefusals()
  // Where nobody knows the groups the server asks for them, and refuses a topic that has some.
  const isAllKnown = !written?.seenBy || areAllKnown(written)
  const lack = lackOf(request, state) ?? (isAllKnown ? null : "tickFirst")
  const start = () =>
    create.mutate(request, {
      onSuccess: (job) => {
        toastDone(t("jobs.startedToast", { name: jobNameOf(t, job) }))
        void navigate({ to: "/jobs/$job", params: { job: job.id }, search: {} })
      },
      onError: (error) => {
        note({ sent: request, fields: asProblem(error).fields })
        toastFailed(t("jobs.notStarted"), error)
      },
    })
  return (
    <Panel>
      <div className={classes.big}>
        {dryRun}
        <strong>{hero}</strong> <span>{heroWords}</span>
      </div>
      <Definitions items={[...facts, ...useNotifyFacts(request)]} />
      {written && <SeenBy {...written} />}
      <div className={classes.decide}>
        {create.error && <RefusedFields fields={asProblem(create.error).fields} />}
        <NeedsRight right="jobs">
          <Button
            variant="filled"
            size="md"
            leftSection={<IconPlayerPlay size={15} stroke={1.8} />}
            disabled={lack !== null}
            title={lack ? t(`jobs.${lack}`) : ""}
            loading={create.isPending}
            onClick={start}
          >
            {action}
          </Button>
        </NeedsRight>
        {lack && <span className="micro">{t(`jobs.${lack}`)}</span>}
        {second}
      </div>
    </Panel>
  )
}

function SeenBy({ seenBy, known, onKnown }: Written) {
  const { t } = useTranslation()
  return (
    <div className={classes.seen}>
      <h2>{t("jobs.seenBy")}</h2>
      <ul>
        {seenBy?.map((group) => (
          <li key={group.name}>
            {group.name}
            <GroupState group={group} />
          </li>
        ))}
        {seenBy?.length === 0 && <li className="micro">{t("jobs.seenByNone")}</li>}
        {seenBy === undefined && (
          <li className="micro">
            <span>
              <Unknown /> {t("jobs.seenByUnknown")}
            </span>
          </li>
        )}
      </ul>
      {liveOf(seenBy ?? []).map(({ name }) => (
        <Checkbox
          key={name}
          mt={8}
          label={t("jobs.groupIsLive", { group: name })}
          checked={known.has(name)}
          onChange={(event) => onKnown(name, event.currentTarget.checked)}
        />
      ))}
    </div>
  )
}
