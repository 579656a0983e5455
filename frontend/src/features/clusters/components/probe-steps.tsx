import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import type { ProbeReport, ProbeStep } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import classes from "./clusters-page.module.css"

/** What was tried, in its order, each with its own finding; a failed step does not stop the others. */
export function ProbeSteps({ report }: { report: ProbeReport }) {
  const { t } = useTranslation()
  const passed = report.steps.filter(({ state }) => state === "passed").length
  return (
    <Panel title={t("clusters.trying")} note={t("clusters.readsOnly", { n: passed, total: report.steps.length })}>
      <ol className={classes.steps}>
        {report.steps.map((step) => (
          <Step key={step.step} step={step} />
        ))}
      </ol>
    </Panel>
  )
}

function Step({ step: { step, state, passed, tried, findings, duration_ms: took } }: { step: ProbeStep }) {
  const { t } = useTranslation()
  const format = useFormat()
  const told = step === "abilities" ? findings.filter(({ ok }) => !ok) : findings
  return (
    <li className={classes.step} data-state={state}>
      <span>{t(`clusters.steps.${step}`)}</span>
      <span className="micro">
        {state === "skipped" ? t("clusters.skipped") : t("clusters.passed", { n: passed, total: tried })}
        {took > 0 && `, ${format.duration(took)}`}
      </span>
      {told.map(({ subject, finding }) => (
        <small key={subject}>
          {step === "abilities" ? t(`abilities.names.${subject}` as "abilities.names.lease", { defaultValue: subject }) : subject}
          {finding && ` · ${reasonIn(t, finding)}`}
        </small>
      ))}
    </li>
  )
}
