import { Button, TextInput } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Wizard, type WizardStep } from "@/components/wizard/wizard"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"
import { isWrong, lackOf } from "../request"
import { MissingRights } from "./missing-rights"
import { NotifyFields } from "./notify-fields"
import type { DryRun } from "../use-dry-run"

interface JobWizardProps {
  title: string
  steps: WizardStep[]
  request: JobRequest
  /** What is decided at the last step. */
  decision: ReactNode
  /** Shown below the fields of a step: what the job will read. */
  touched?: Readonly<Record<string, ReactNode>>
  dryRun?: DryRun
}

/** The wizard of a job that is described by the address, and may become one of a schedule. */
export function JobWizard({ request, dryRun, steps, ...wizard }: JobWizardProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [state] = useUrlState()
  const lack = lackOf(request, state)
  return (
    <Wizard
      {...wizard}
      steps={steps.map((step, at) => withRights(at === steps.length - 1 ? withCommon(step) : step, request))}
      right="jobs"
      path={paths.jobs}
      request={request}
      hasFault={isWrong(state)}
      refusals={dryRun?.refused && dryRun.sent ? [{ sent: dryRun.sent, fields: dryRun.refused.fields }] : []}
      actions={
        <>
          <Button
            variant="subtle"
            disabled={lack !== null}
            title={lack ? t(`jobs.${lack}`) : ""}
            onClick={() => void navigate({ to: "/schedules", search: { ...state, step: undefined, dry: undefined, live: request.allow_live_target ? "1" : undefined, new: request.type } })}
          >
            {t("jobs.saveAsSchedule")}
          </Button>
          <Button onClick={() => void navigate({ to: "/jobs" })}>{t("jobs.discard")}</Button>
        </>
      }
    />
  )
}

/** Every step says which rights are missing: a link may lead to any of them. */
const withRights = ({ fields, ...step }: WizardStep, request: JobRequest): WizardStep => ({
  ...step,
  fields: (
    <>
      <MissingRights request={request} />
      {fields}
    </>
  ),
})

/** The last step has what jobs of all types have. */
const withCommon = ({ parts = [], fields, ...step }: WizardStep): WizardStep => ({
  ...step,
  parts: [...parts, "name", "notify"],
  fields: (
    <>
      {fields}
      <NotifyFields />
    </>
  ),
})

export function NameField({ placeholder }: { placeholder: string }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  return (
    <TextInput
      label={t("jobs.name")}
      description={t("jobs.nameWords")}
      placeholder={placeholder}
      value={state.name ?? ""}
      onChange={(event) => change({ name: event.currentTarget.value })}
      maw={360}
    />
  )
}
