import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { Page } from "@/components/layout/page"
import { paths } from "@/config/paths"
import { useAskedFilter } from "@/hooks/use-asked-filter"
import { useUrlState } from "@/hooks/use-url-state"
import { useJobs } from "../api/get-jobs"
import { filterOf, isFiltered, NO_FILTER } from "../filter"
import { JobsFilters } from "./jobs-filters"
import { JobsTable } from "./jobs-table"
import { NewJob } from "./new-job"

export function JobsPage({ scheduleFilter }: { scheduleFilter: ReactNode }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const filter = filterOf(state)
  const asked = useAskedFilter(filter)
  const jobs = useJobs(asked)
  const clear = () => change(NO_FILTER)
  return (
    <Page
      fill
      title={t("nav.jobs")}
      facts={t("jobs.facts")}
      actions={
        <>
          {asked && <CurlButton request={{ path: paths.jobs, query: { ...asked } }} />}
          <NewJob />
        </>
      }
    >
      <JobsFilters filter={filter} scheduleFilter={scheduleFilter} onChange={change} onClear={clear} />
      <JobsTable query={jobs} isAsked={asked !== null} onClear={isFiltered(filter) ? clear : undefined} />
    </Page>
  )
}
