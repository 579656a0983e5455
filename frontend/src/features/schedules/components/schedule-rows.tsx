import { useTranslation } from "react-i18next"
import { PhoneRows } from "@/components/data-table/phone-rows"
import type { Schedule } from "@/lib/api-types"
import { ScheduleActions } from "./schedule-actions"
import { Enabled, JobWords, LastState, Next } from "./schedule-cells"
import classes from "./schedules.module.css"

/** For a phone: the whole name and what can be done, then what it starts and when, and how its last run ended. */
export function ScheduleRows({ schedules }: { schedules: readonly Schedule[] }) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("nav.schedules")} rows={schedules}>
      {(schedule) => (
        <>
          <span className={classes.name}>
            <Enabled schedule={schedule} /> <b>{schedule.name}</b>
          </span>
          <span>
            <ScheduleActions schedule={schedule} />
          </span>
          <small>
            <JobWords job={schedule.job} /> · <span className="mono">{schedule.cron}</span> {schedule.zone}
          </small>
          <span />
          <small>{t("schedules.next")}</small>
          <small>
            <Next schedule={schedule} />
          </small>
          {schedule.last_run_at && (
            <>
              <small>{t("schedules.last")}</small>
              <span>
                <LastState state={schedule.last_state} />
              </span>
            </>
          )}
        </>
      )}
    </PhoneRows>
  )
}
