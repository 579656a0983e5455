import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { CurlButton } from "@/components/code/curl-button"
import { DensityButton, FilterDivider, FilterRight, FilterRow } from "@/components/data-table/table-tools"
import { Page } from "@/components/layout/page"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import { useJobs } from "../api/get-jobs"
import { JobsTable } from "./jobs-table"
import { NewJob } from "./new-job"

const TYPES = ["replay", "reconcile", "redrive", "export"] as const
const STATES = ["queued", "running", "paused", "succeeded", "partial", "failed", "cancelled"] as const

export function JobsPage() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const filter = { type: state.type, state: state.state }
  const jobs = useJobs(filter)
  const toggle = (name: "type" | "state", value: string) => change({ [name]: state[name] === value ? undefined : value })
  return (
    <Page
      fill
      title={t("nav.jobs")}
      facts={t("jobs.facts")}
      actions={
        <>
          <CurlButton request={{ path: paths.jobs, query: filter }} />
          <NewJob />
        </>
      }
    >
      <FilterRow>
        <Chip isOn={!state.type && !state.state} onClick={() => change({ type: undefined, state: undefined })}>
          {t("jobs.all")}
        </Chip>
        {TYPES.map((type) => (
          <Chip key={type} isOn={state.type === type} onClick={() => toggle("type", type)}>
            {t(`jobs.types.${type}`)}
          </Chip>
        ))}
        <FilterDivider />
        {STATES.map((name) => (
          <Chip key={name} isOn={state.state === name} onClick={() => toggle("state", name)}>
            {t(`jobStates.${name}`)}
          </Chip>
        ))}
        <FilterRight>
          <DensityButton />
        </FilterRight>
      </FilterRow>
      <JobsTable query={jobs} isFiltered={Boolean(state.type ?? state.state)} />
    </Page>
  )
}
