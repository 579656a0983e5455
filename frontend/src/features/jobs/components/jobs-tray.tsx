import { IconPlayerTrackNext } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { ProgressRail } from "@/components/rail/rail"
import { useRunningJobs } from "../api/get-jobs"
import { progressOf } from "../progress"
import classes from "./jobs-tray.module.css"

/** How much work is running, and how far it is on the whole; absent when nothing runs. */
export function JobsTray() {
  const { t } = useTranslation()
  const { data: jobs = [] } = useRunningJobs()
  if (jobs.length === 0) return null
  const known = jobs.map(progressOf).filter((ratio): ratio is number => ratio !== null)
  const mean = known.length > 0 ? known.reduce((sum, ratio) => sum + ratio, 0) / known.length : null
  return (
    <Link to="/jobs" className={classes.tray}>
      <IconPlayerTrackNext size={16} stroke={1.6} aria-hidden />
      <span>{t("jobs.tray", { count: jobs.length })}</span>
      <span className={classes.rail}>
        <ProgressRail ratio={mean} />
      </span>
    </Link>
  )
}
