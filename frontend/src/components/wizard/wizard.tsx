import { Button, Group, Stack } from "@mantine/core"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { CurlButton } from "@/components/code/curl-button"
import { Fillable } from "@/components/forms/lock"
import { Columns, Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { type Step, StepsRail } from "@/components/rail/steps-rail"
import type { Right } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"
import { isPart, type Refusal, RefusalsContext } from "./refusals"

export interface WizardStep extends Step {
  isReady: boolean
  fields: ReactNode
  /** The parts of the request that it fills in, by their paths. */
  parts?: readonly string[]
}

interface WizardProps {
  title: string
  /** Without it the fields are locked. */
  right: Right
  steps: WizardStep[]
  /** Where the request will be posted. */
  path: string
  request: object
  /** Whether a field is wrong, and not just missing. */
  hasFault: boolean
  /** What the server said already, beside what it says when the request is sent. */
  refusals?: readonly Refusal[]
  actions: ReactNode
  /** What is decided at the last step. */
  decision: ReactNode
  /** Shown below the fields of a step: what will be touched. */
  touched?: Readonly<Record<string, ReactNode>>
}

/** Steps along a rail: left what will be touched, right the decision; the request is shown below it. */
export function Wizard({ title, right, steps, path, request, hasFault, refusals = [], actions, decision, touched }: WizardProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const [noted, note] = useState<Refusal | null>(null)
  const current = steps.find(({ id }) => id === state.step) ?? steps[0]
  if (!current) return null
  const next = steps[steps.indexOf(current) + 1]
  const stepOf = (field: string) => {
    const step = steps.find(({ parts = [] }) => parts.some((part) => isPart(field, part)))
    return step && { label: step.label, go: () => change({ step: step.id }, { push: true }) }
  }
  return (
    <RefusalsContext value={{ request, refusals: [...(noted ? [noted] : []), ...refusals], note, stepOf }}>
      <Page title={title} facts={t("jobs.nothingWritten")} actions={actions}>
        <StepsRail steps={steps} current={current.id} onStep={(step) => change({ step })} />
        <Columns
          sideWidth={378}
          main={
            <>
              <Fillable right={right}>
                <Panel title={current.label}>
                  <Stack gap={14} p={14}>
                    {current.fields}
                    {next && (
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
              {!next && decision}
              <Panel title={t("request.title")} actions={<CurlButton size="xs" label="curl" request={{ method: "POST", path, body: request }} />}>
                <CodeBlock plain wrap language="json" text={`POST ${path}\n${JSON.stringify(request, null, 2)}`} />
              </Panel>
            </>
          }
        />
      </Page>
    </RefusalsContext>
  )
}
