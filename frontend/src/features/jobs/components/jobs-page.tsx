import { Button } from "@mantine/core"
import { IconServerCog } from "@tabler/icons-react"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { Page } from "@/components/layout/page"
import { paths } from "@/config/paths"
import { useAskedFilter } from "@/hooks/use-asked-filter"
import { useUrlState } from "@/hooks/use-url-state"
import type { JobWorkers } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useJobWorkers } from "../api/get-job-workers"
import { useJobs } from "../api/get-jobs"
import { filterOf, isFiltered, NO_FILTER } from "../filter"
import { runningOf } from "../waiting"
import { JobsFilters } from "./jobs-filters"
import { JobsTable } from "./jobs-table"
import { NewJob } from "./new-job"
import { WorkersDrawer } from "./workers-drawer"
import { WorkersNotice } from "./workers-notice"

export function JobsPage({ scheduleFilter }: { scheduleFilter: ReactNode }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const filter = filterOf(state)
  const asked = useAskedFilter(filter)
  const jobs = useJobs(asked)
  const workers = useJobWorkers()
  const clear = () => change(NO_FILTER)
  return (
    <DockedPage drawer={state.workers !== undefined && <WorkersDrawer query={workers} onClose={() => change({ workers: undefined })} />}>
      <Page
        fill
        title={t("nav.jobs")}
        facts={<Facts workers={workers.data} />}
        actions={
          <>
            <Button leftSection={<IconServerCog size={15} stroke={1.6} />} onClick={() => change({ workers: state.workers === undefined ? "all" : undefined })}>
              {t("jobPages.workers.button")}
            </Button>
            {asked && <CurlButton request={{ path: paths.jobs, query: { ...asked } }} />}
            <NewJob />
          </>
        }
      >
        <WorkersNotice workers={workers.data} />
        <JobsFilters filter={filter} scheduleFilter={scheduleFilter} onChange={change} onClear={clear} />
        <JobsTable query={jobs} isAsked={asked !== null} onClear={isFiltered(filter) ? clear : undefined} />
      </Page>
    </DockedPage>
  )
}

/** How much is going on, once it is known. */
function Facts({ workers }: { workers: JobWorkers | undefined }) {
  const { t } = useTranslation()
  if (workers === undefined) return <>{t("jobs.facts")}</>
  const known = { running: count(runningOf(workers)), most: count(workers.at_once) }
  return <>{workers.queued > 0 ? t("jobPages.workers.factsWaiting", { ...known, count: workers.queued }) : t("jobPages.workers.facts", known)}</>
}
