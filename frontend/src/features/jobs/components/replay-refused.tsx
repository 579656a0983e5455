import { Button, TextInput } from "@mantine/core"
import { IconPlayerTrackNext } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { useUrlState } from "@/hooks/use-url-state"
import type { Job, MissingRequest } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useJobReport } from "../api/get-job-report"
import { hasPassedAll } from "../progress"
import type { ReplayRequest } from "../request"
import { ReplayNamed } from "./replay-missing"

type Transform = NonNullable<NonNullable<MissingRequest["target"]>["transform"]>

/** How many messages of a replay were refused and are named, so that they can be replayed; 0 where there is no way. */
const namedOf = (job: Job, listed = 0): number => (hasPassedAll(job) && job.files_removed_at === null ? Math.min(job.counters.failed, listed) : 0)

/** The way to a replay of what was refused; nothing where no message is named. */
export function ReplayRefusedButton({ job, listed }: { job: Job; listed: number | undefined }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const named = namedOf(job, listed)
  if (named === 0) return null
  return (
    <NeedsRight right="jobs">
      <Button size="xs" leftSection={<IconPlayerTrackNext size={14} stroke={1.6} />} onClick={() => change({ missing: "refused" })}>
        {t("jobPages.refused.replay", { count: named, n: count(named) })}
      </Button>
    </NeedsRight>
  )
}

/** The drawer of that replay, while the address asks for it. */
export function useRefusedDrawer(job: Job) {
  const [state] = useUrlState()
  const isAsked = state.missing === "refused" && hasPassedAll(job)
  const named = namedOf(job, useJobReport(isAsked ? job : undefined).data?.left_out_listed)
  return isAsked && named > 0 ? <ReplayRefused job={job} named={named} /> : null
}

/** Its expressions may be at fault: they can be changed, and are otherwise those of the job. */
function ReplayRefused({ job, named }: { job: Job; named: number }) {
  const { t } = useTranslation()
  const { source, target } = job.request as ReplayRequest
  const [changes, setChanges] = useState<Record<string, string>>({})
  const { properties = {}, ...fields } = target.transform ?? {}
  const changed = <T extends Record<string, string>>(given: T): T => Object.fromEntries(Object.entries(given).map(([name, sql]) => [name, changes[name] ?? sql])) as T
  const transform: Transform = { ...changed(fields), ...(Object.keys(properties).length > 0 && { properties: changed(properties) }) }
  const isChanged = Object.keys(changes).length > 0
  return (
    <ReplayNamed
      job={job}
      named={named}
      topic={source.topic}
      target={isChanged ? { ...target, transform } : undefined}
      title={t("jobPages.refused.title")}
      words={t("jobPages.refused.words", { source: source.topic, target: target.topic ?? "" })}
    >
      {Object.entries({ ...fields, ...properties }).map(([name, sql]) => (
        <TextInput key={name} label={t("jobPages.refused.expression", { name })} className="mono" value={changes[name] ?? sql} onChange={(event) => setChanges({ ...changes, [name]: event.currentTarget.value })} />
      ))}
    </ReplayNamed>
  )
}
