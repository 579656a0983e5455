import { useTranslation } from "react-i18next"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { Callout, Definitions } from "@/components/layout/panel"
import { Ident } from "@/components/values/ident"
import { NotApplicable } from "@/components/values/num"
import { count } from "@/lib/format"
import { differs, linesOfField } from "../differing"
import type { Report, Sample } from "../report"
import type { ReconcileRequest } from "../request"
import { titleOfSide } from "../sides"
import { DifferenceKind } from "./difference-kind"
import { DifferencePlace } from "./difference-place"
import classes from "./difference-drawer.module.css"

interface DifferenceDrawerProps {
  sample: Sample
  request: Partial<ReconcileRequest>
  hidden: Report["hidden"]
  position: string
  onPrevious: (() => void) | undefined
  onNext: (() => void) | undefined
  onClose: () => void
}

/** One difference with the values of both sides beside each other. */
export function DifferenceDrawer({ sample, request, hidden, ...drawer }: DifferenceDrawerProps) {
  const { t } = useTranslation()
  const title = sample.key ?? t(`reconcile.tiles.${sample.class}`)
  const values = Object.entries(sample.values ?? {})
  return (
    <DockedDrawer label={title} {...drawer}>
      <div className={classes.head}>
        <DifferenceKind tile={sample.class} />
        <h2>{sample.key === null ? <NotApplicable /> : <Ident id={sample.key} whole />}</h2>
      </div>
      <Definitions
        items={[
          [t("reconcile.left", { topic: titleOfSide(request.left) }), <Where place={sample.left} topic={request.left?.topic} n={sample.left_count} />],
          [t("reconcile.right", { topic: titleOfSide(request.right) }), <Where place={sample.right} topic={request.right?.topic} n={sample.right_count} />],
          [t("reconcile.why"), sample.damage ?? t(`reconcile.words.${sample.class}`)],
        ]}
      />
      {hidden && sample.fields.length > 0 && <Callout>{t("reconcile.hidden", { right: t("rights.bodies") })}</Callout>}
      {values.map(([field, { left, right }]) => (
        <Values key={field} field={field} left={left} right={right} />
      ))}
    </DockedDrawer>
  )
}

function Where({ place, topic, n }: { place: Sample["left"]; topic: string | undefined; n: number }) {
  const { t } = useTranslation()
  return (
    <span className={classes.place}>
      <DifferencePlace place={place} topic={topic} />
      {n > 1 && <span className="micro"> {t("reconcile.times", { count: n, n: count(n) })}</span>}
    </span>
  )
}

function Values({ field, left, right }: { field: string; left: string | null; right: string | null }) {
  const { t } = useTranslation()
  const lines = linesOfField(field, left, right)
  const ordered = [...lines.filter(differs), ...lines.filter((line) => !differs(line))]
  return (
    <section className={classes.values}>
      <h3>{t("reconcile.valuesOf", { field })}</h3>
      <table>
        <thead>
          <tr>
            <th scope="col">{t("reconcile.path")}</th>
            <th scope="col">{t("jobs.left")}</th>
            <th scope="col">{t("jobs.right")}</th>
          </tr>
        </thead>
        <tbody>
          {ordered.map((line) => (
            <tr key={line.path} data-differs={differs(line) || undefined}>
              <th scope="row">{line.path || field}</th>
              <td>{line.left ?? <NotApplicable />}</td>
              <td>{line.right ?? <NotApplicable />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
