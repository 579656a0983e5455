import { useQuery } from "@tanstack/react-query"
import { paths } from "@/config/paths"
import { api } from "@/lib/api-client"
import type { Job, JobArtefacts } from "@/lib/api-types"
import { jobKeys } from "./keys"

/** The files of a job, how long they are kept, and what its reader lacks for them: asked for again when the job changes its state or has another file. */
export const useJobArtefacts = (job: Job) =>
  useQuery({
    queryKey: [...jobKeys.artefacts(job.id), job.state, job.artefacts.length, job.files_removed_at],
    queryFn: ({ signal }) => api.get<JobArtefacts>(paths.jobArtefacts(job.id), undefined, signal),
  })
