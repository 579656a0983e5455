import { Button, Group, Stack, TextInput } from "@mantine/core"
import { useNavigate } from "@tanstack/react-router"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { CodeBlock } from "@/components/code/code-block"
import { Fillable } from "@/components/forms/lock"
import { Columns, Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { type Step, StepsRail } from "@/components/rail/steps-rail"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { JobRequest } from "@/lib/api-types"
import { isPart, type Refusal, RefusalsContext } from "../refusals"
import { faultsOf, isWhole } from "../request"
import type { DryRun } from "../use-dry-run"

export interface WizardStep extends Step {
  isReady: boolean
  fields: ReactNode
  /** The parts of the request that it fills in, by their paths. */
  parts?: readonly string[]
}

interface WizardProps {
  title: string
  steps: WizardStep[]
  request: JobRequest
  /** What is decided at the last step. */
  decision: ReactNode
  /** Shown below the fields of a step: what the job will read. */
  touched?: Readonly<Record<string, ReactNode>>
  dryRun?: DryRun
}

/** Steps along a rail: left what will be touched, right the decision; the request is shown below it. */
export function Wizard({ title, steps, request, decision, touched, dryRun }: WizardProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [state, change] = useUrlState()
  const [noted, note] = useState<Refusal | null>(null)
  const current = steps.find(({ id }) => id === state.step) ?? steps[0]
  if (!current) return null
  const index = steps.indexOf(current)
  const next = steps[index + 1]
  const isLast = next === undefined
  // An expression that is still to be typed is missing, not wrong.
  const hasFault = Object.values(faultsOf(state)).some((fault) => fault !== "expression")
  const stepOf = (path: string) => {
    const step = steps.find(({ parts = [] }) => parts.some((part) => isPart(path, part)))
    return step && { label: step.label, go: () => change({ step: step.id }, { push: true }) }
  }
  const refusals = [...(noted ? [noted] : []), ...(dryRun?.refused && dryRun.sent ? [{ sent: dryRun.sent, fields: dryRun.refused.fields }] : [])]
  return (
    <RefusalsContext value={{ request, refusals, note, stepOf }}>
      <Page
        title={title}
        facts={t("jobs.nothingWritten")}
        actions={
          <>
            <Button
              variant="subtle"
              disabled={!isWhole(request, state)}
              onClick={() => void navigate({ to: "/schedules", search: { ...state, step: undefined, dry: undefined, live: request.allow_live_target ? "1" : undefined, new: request.type } })}
            >
              {t("jobs.saveAsSchedule")}
            </Button>
            <Button onClick={() => void navigate({ to: "/jobs" })}>{t("jobs.discard")}</Button>
          </>
        }
      >
        <StepsRail steps={steps} current={current.id} onStep={(step) => change({ step })} />
        <Columns
          sideWidth={378}
          main={
            <>
              <Fillable right="jobs">
                <Panel title={current.label}>
                  <Stack gap={14} p={14}>
                    {current.fields}
                    {!isLast && (
                      <Group gap={8} mt={4}>
                        <Button variant="filled" size="md" disabled={!current.isReady} onClick={() => change({ step: next.id }, { push: true })}>
                          {t("jobs.next", { step: next.label })}
                        </Button>
                        {!current.isReady && <span className="micro">{t(hasFault ? "jobs.wrong" : "jobs.notReady")}</span>}
                      </Group>
                    )}
                  </Stack>
                </Panel>
              </Fillable>
              {touched?.[current.id]}
            </>
          }
          side={
            <>
              {isLast && decision}
              <Panel title={t("request.title")} actions={<CurlButton size="xs" label="curl" request={{ method: "POST", path: paths.jobs, body: request }} />}>
                <CodeBlock plain wrap language="json" text={`POST ${paths.jobs}\n${JSON.stringify(request, null, 2)}`} />
              </Panel>
            </>
          }
        />
      </Page>
    </RefusalsContext>
  )
}

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
