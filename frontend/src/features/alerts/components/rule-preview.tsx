import type { UseQueryResult } from "@tanstack/react-query"
import { type PointerEvent, useRef } from "react"
import { useTranslation } from "react-i18next"
import { QueryBody } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import type { Rule, RulePreview as Preview } from "@/lib/api-types"
import { count } from "@/lib/format"
import { measured } from "../measure"
import classes from "./alerts.module.css"

interface RulePreviewProps {
  /** Null while the rule cannot be asked about. */
  query: UseQueryResult<Preview> | null
  metric: Rule["metric"]
  limit: number
  onLimit: (limit: number) => void
}

/** The rule over the last day: where it would have fired, what was unknown, and a limit that can be dragged. */
export function RulePreview({ query, metric, limit, onLimit }: RulePreviewProps) {
  const { t } = useTranslation()
  return (
    <section aria-label={t("alerts.preview")}>
      <h3>{t("alerts.preview")}</h3>
      <p className="micro">{t("alerts.previewNote")}</p>
      {query === null ? (
        <p className="micro">{t("alerts.previewWaits")}</p>
      ) : (
        <QueryBody query={query} what={t("alerts.previewFailed")} isEmpty={({ subjects, missing }) => subjects === 0 && missing.length === 0} empty={<p className="micro">{t("alerts.previewNone")}</p>}>
          {(found) => (
            <>
              <Plot found={found} metric={metric} limit={limit} onLimit={onLimit} />
              <Found found={found} />
              {found.missing.length > 0 && <p className="micro">{t("alerts.previewMissing", { names: found.missing.map(({ cluster }) => cluster).join(t("list.comma")) })}</p>}
            </>
          )}
        </QueryBody>
      )}
    </section>
  )
}

const known = (values: readonly (number | null)[]) => values.filter((value): value is number => value !== null)

function Plot({ found, metric, limit, onLimit }: Omit<RulePreviewProps, "query"> & { found: Preview }) {
  const { t } = useTranslation()
  const format = useFormat()
  const box = useRef<HTMLDivElement>(null)
  const top = 1.15 * Math.max(limit, ...known(found.values), 1e-9)
  const steps = Math.max(1, found.values.length)
  const at = (moment: string) => (Date.parse(moment) - Date.parse(found.from)) / found.step_ms
  const drag = (event: PointerEvent) => {
    const area = box.current?.getBoundingClientRect()
    if (!area || event.buttons === 0) return
    onLimit(Math.max(0, (1 - (event.clientY - area.top) / area.height) * top))
  }
  const fired = found.fired.filter(({ subject }) => subject === found.shown)
  return (
    <div ref={box} className={classes.plot}>
      {found.unknown.map(({ from, to }) => (
        <span key={from} className={`${classes.hole} hatch`} style={{ insetInlineStart: `${(100 * at(from)) / steps}%`, width: `${(100 * (at(to) - at(from))) / steps}%` }} aria-hidden />
      ))}
      <svg viewBox={`0 0 ${steps} 100`} preserveAspectRatio="none" role="img" aria-label={t("alerts.plot", { name: found.shown ?? "" })}>
        {fired.map(({ from, to }) => (
          <rect key={from} className={classes.fired} x={at(from)} width={Math.max(2, at(to) - at(from))} y={0} height={100} />
        ))}
        <path className={classes.line} d={pathOf(found.values, top)} />
      </svg>
      <div className={classes.limit} style={{ top: `${100 - (100 * limit) / top}%` }}>
        <span>{t("alerts.limitLine", { limit: measured(metric, limit, format) })}</span>
        <button
          type="button"
          className={classes.handle}
          aria-label={t("alerts.dragLimit")}
          onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
          onPointerMove={drag}
          onKeyDown={({ key }) => {
            if (key === "ArrowUp") onLimit(limit * 1.05)
            if (key === "ArrowDown") onLimit(limit * 0.95)
          }}
        />
      </div>
    </div>
  )
}

/** A line through the known values; it stops where nothing is known. */
function pathOf(values: readonly (number | null)[], top: number): string {
  return values
    .map((value, index) => (value === null ? "" : `${(values[index - 1] ?? null) === null ? "M" : "L"}${index + 0.5} ${100 - (100 * value) / top}`))
    .join("")
}

function Found({ found }: { found: Preview }) {
  const { t } = useTranslation()
  const format = useFormat()
  const length = (ms: number) => (ms === 0 ? "0" : format.duration(ms))
  // History is kept by the minute: what fired within one has no length in it.
  const firedFor = (ms: number) => (ms === 0 && found.fired_count > 0 ? t("alertStory.underMinute") : length(ms))
  const isUnknown = known(found.values).length === 0
  // What did not fire while it was known may have fired while it was not.
  const mayHave = found.fired_count === 0 && (found.unknown_ms > 0 || found.missing.length > 0)
  return (
    <div className={classes.found}>
      <div>
        {t("alerts.wouldFire")}
        <b>{mayHave ? t(isUnknown ? "states.unknown" : "alerts.notWhileKnown") : t("alerts.times", { count: found.fired_count })}</b>
        {found.previewed < found.subjects ? t("alerts.someSubjects", { some: count(found.previewed), all: count(found.subjects) }) : t("alerts.allSubjects", { count: found.subjects })}
      </div>
      <div>
        {t("alerts.inAll")}
        <b>{mayHave && isUnknown ? t("states.unknown") : firedFor(found.fired_ms)}</b>
        {!(mayHave && isUnknown) && t("alerts.longest", { time: firedFor(found.longest_ms) })}
      </div>
      <div>
        {t("alerts.states.no_data")}
        <b>{length(found.unknown_ms)}</b>
        {found.shown}
      </div>
      <div>
        {t("alerts.brief")}
        <b>{count(found.brief)}</b>
        {t("alerts.briefWords")}
      </div>
    </div>
  )
}
