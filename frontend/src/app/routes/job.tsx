import { useParams } from "@tanstack/react-router"
import { JobOutcomes } from "@/features/dead-letters/components/job-outcomes"
import { JobPage } from "@/features/jobs/components/job-page"
import { FromSchedule } from "@/features/schedules/components/from-schedule"

export function JobRoute() {
  const { job } = useParams({ from: "/inside/jobs/$job" })
  return <JobPage key={job} id={job} outcomes={(shown) => <JobOutcomes job={shown} />} schedule={(id) => <FromSchedule id={id} />} />
}
