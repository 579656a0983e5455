import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import { useSchedules } from "../api/get-schedules"
import { cleared, type JobForm } from "../scheduled-job"
import { CreateSchedule } from "./create-schedule"
import { EditSchedule } from "./edit-schedule"
import { PauseSchedule } from "./pause-schedule"
import { ScheduleRuns } from "./schedule-runs"
import { SchedulesTable } from "./schedules-table"

export function SchedulesPage({ jobForm }: { jobForm: JobForm }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const schedules = useSchedules()
  const create = (
    <NeedsRight right="jobs">
      <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "replay" })}>
        {t("schedules.create")}
      </Button>
    </NeedsRight>
  )
  const known = (id: string | undefined) => schedules.data?.find((schedule) => schedule.id === id)
  const close = () => change({ ...(state.new !== undefined && cleared(state)), edit: undefined, runs: undefined, pause: undefined })
  const [edited, followed, paused] = [known(state.edit), known(state.runs), known(state.pause)]
  const drawer =
    (state.new !== undefined && state.edit === undefined && jobForm.render((job) => <CreateSchedule {...job} />)) ||
    (edited && <EditSchedule key={edited.id} schedule={edited} jobForm={jobForm} onClose={close} />) ||
    (followed && <ScheduleRuns key={followed.id} schedule={followed} onClose={close} />) ||
    (paused && <PauseSchedule key={paused.id} schedule={paused} onClose={close} />)
  return (
    <DockedPage drawer={drawer}>
      <Page
        title={t("nav.schedules")}
        facts={schedules.data && t("schedules.facts", { count: schedules.data.length })}
        actions={
          <>
            <CurlButton request={{ path: paths.schedules }} />
            {create}
          </>
        }
      >
        <QueryPanel
          query={schedules}
          what={t("schedules.failed")}
          isEmpty={(items) => items.length === 0}
          empty={<Empty title={t("schedules.none")} next={t("schedules.noneNext")} actions={create} />}
        >
          {(items) => <SchedulesTable schedules={items} />}
        </QueryPanel>
      </Page>
    </DockedPage>
  )
}
