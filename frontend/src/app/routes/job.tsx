import { useParams } from "@tanstack/react-router"
import { JobPage } from "@/features/jobs/components/job-page"

export function JobRoute() {
  const { job } = useParams({ from: "/inside/jobs/$job" })
  return <JobPage key={job} id={job} />
}
