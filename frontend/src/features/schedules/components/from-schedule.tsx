import { useTranslation } from "react-i18next"
import { useSchedules } from "../api/get-schedules"

/** Says from which schedule something is; without its name while that is not known, and to one who may not see it. */
export function FromSchedule({ id }: { id: string }) {
  const { t } = useTranslation()
  const found = useSchedules().data?.find((schedule) => schedule.id === id)
  return <>{found ? t("jobs.fromScheduleOf", { name: found.name }) : t("jobs.fromSchedule")}</>
}
