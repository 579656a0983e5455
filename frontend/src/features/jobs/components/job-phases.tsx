import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { RangeRail } from "@/components/rail/rail"
import { useFormat } from "@/hooks/use-format"
import type { Job } from "@/lib/api-types"
import { phasesOf } from "../phases"
import classes from "./jobs.module.css"

/** Where the time of a run went, from the queue to its end. */
export function JobPhases({ job }: { job: Job }) {
  const { t } = useTranslation()
  const format = useFormat()
  const found = phasesOf(job)
  if (found === null) return null
  const { phases, whole, toFirst } = found
  const time = (seconds: number) => format.duration(Math.round(seconds * 1000))
  // The time of the job is that of all its attempts.
  const notes = [...(job.attempt > 1 ? [t("jobPages.phases.ofLast")] : []), ...(toFirst === null ? [] : [t("jobPages.phases.first", { time: time(toFirst) })])]
  return (
    <Panel title={t("jobPages.phases.title")} note={notes.join(" · ")}>
      <ul className={classes.phases}>
        {phases.map(({ name, seconds, from }) => (
          <li key={name}>
            <span>{t(`jobPages.phases.names.${name as "planning"}`, { defaultValue: name })}</span>
            <RangeRail from={from / whole} to={(from + seconds) / whole} />
            <b>{time(seconds)}</b>
          </li>
        ))}
      </ul>
    </Panel>
  )
}
