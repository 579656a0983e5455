import { JobsPage } from "@/features/jobs/components/jobs-page"
import { ScheduleFilter } from "@/features/schedules/components/schedule-filter"
import { useUrlState } from "@/hooks/use-url-state"

export function JobsRoute() {
  const [state, change] = useUrlState()
  return <JobsPage scheduleFilter={<ScheduleFilter value={state.schedule} onChange={(schedule) => change({ schedule })} />} />
}
