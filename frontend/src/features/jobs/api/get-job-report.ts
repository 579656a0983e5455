import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job } from "@/lib/api-types"
import { hasEnded } from "../progress"
import type { Report } from "../report"
import { jobKeys } from "./keys"

/** What the job found or did; there when it ended. */
export const useJobReport = (job: Job | undefined) =>
  useQuery({
    queryKey: [...jobKeys.report(job?.id ?? ""), job?.state],
    queryFn: ({ signal }) => api.get<Report>(paths.jobReport(job?.id ?? ""), undefined, signal),
    enabled: job !== undefined && hasEnded(job),
    retry: false,
  })
