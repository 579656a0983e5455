import { useTranslation } from "react-i18next"
import { Callout, Panel } from "@/components/layout/panel"
import { useLacking } from "@/hooks/use-ability"
import { useFormat } from "@/hooks/use-format"
import type { Ability, ProbeReport, ProbeStep } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import classes from "./clusters-page.module.css"

/** What was tried, in its order, each with its own finding; a failed step does not stop the others. */
export function ProbeSteps({ report, except }: { report: ProbeReport; /** The cluster that is changed: it has its own brokers. */ except?: string | undefined }) {
  const { t } = useTranslation()
  const same = report.same_brokers.filter(({ cluster }) => cluster !== except)
  const passed = report.steps.filter(({ state }) => state === "passed").length
  return (
    <Panel title={t("clusters.trying")} note={t("clusters.readsOnly", { n: passed, total: report.steps.length })}>
      <ol className={classes.steps}>
        {report.steps.map((step) => (
          <Step key={step.step} step={step} abilities={report.capabilities} />
        ))}
      </ol>
      {same.length > 0 && (
        <div className={classes.same}>
          {same.map(({ cluster, addresses }) => (
            <Callout key={cluster}>{t("clusters.sameBrokers", { cluster, brokers: addresses.join(t("list.comma")) })}</Callout>
          ))}
        </div>
      )}
    </Panel>
  )
}

interface StepProps {
  step: ProbeStep
  abilities: readonly Ability[]
}

function Step({ step: { step, state, passed, tried, findings, duration_ms: took }, abilities }: StepProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const lacking = useLacking()
  const isOfAbilities = step === "abilities"
  // That all were told does not mean that the cluster has them: counted are those that it has.
  const had = isOfAbilities ? abilities.filter((each) => each.state === "yes" || each.state === "partly").length : passed
  return (
    <li className={classes.step} data-state={state}>
      <span>{t(`clusters.steps.${step}`)}</span>
      <span className="micro">
        {state === "skipped" ? t("clusters.skipped") : t("clusters.passed", { n: had, total: tried })}
        {took > 0 && `${t("list.comma")}${format.duration(took)}`}
      </span>
      {isOfAbilities
        ? state !== "skipped" && abilities.map((each) => lacking(each) !== null && <small key={each.name}>{`${t(`abilities.names.${each.name}`)} · ${lacking(each)}`}</small>)
        : findings.map(({ subject, finding }) => (
            <small key={subject}>
              {subject}
              {finding && ` · ${reasonIn(t, finding)}`}
            </small>
          ))}
    </li>
  )
}
