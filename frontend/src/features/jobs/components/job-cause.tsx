import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { Job } from "@/lib/api-types"
import { causeOf } from "../cause"

/** Why a job is not done: what happened, what to do about it, and the server's own sentence. */
export function JobCause({ job }: { job: Job }) {
  const { t, i18n } = useTranslation()
  const cause = causeOf(t, i18n.language, job)
  if (cause === null) return null
  const { title, next, detail } = cause
  if (title === null) return <Callout tone={toneOf(job)}>{detail}</Callout>
  return (
    <Callout tone={toneOf(job)}>
      <b>{title}</b> {next}
      {detail && <div className="micro">{detail}</div>}
    </Callout>
  )
}

const toneOf = ({ state }: Job) => (state === "failed" ? "crit" : "warn")
