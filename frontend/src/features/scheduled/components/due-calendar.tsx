import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { useFormat } from "@/hooks/use-format"
import { count } from "@/lib/format"
import { hourBounds, type Span, spansOf } from "../days"
import { atLeast, without } from "../without"
import type { ScheduledSummary } from "@/lib/api-types"
import classes from "./scheduled.module.css"

interface DueCalendarProps {
  bounds: number[]
  buckets: ScheduledSummary["buckets"]
  missing: ScheduledSummary["missing"]
  /** The range in the address; a day or an hour that covers it is marked. */
  from: number | null
  to: number | null
  onPick: (span: Span | null) => void
}

/** Fourteen days with count and bar on one scale, then the hours of the picked day. A second click takes the choice back. */
export function DueCalendar({ bounds, buckets, missing, from, to, onPick }: DueCalendarProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const days = useMemo(() => spansOf(bounds, buckets), [bounds, buckets])
  const most = Math.max(1, ...days.map(({ due }) => due))
  const isWithin = (day: Span) => from !== null && to !== null && day.from <= from && to <= day.to
  const open = days.find(isWithin) ?? days[0]
  const note = from === null || to === null ? t("scheduled.pickADay") : t("scheduled.range", { from: format.when(from), to: format.when(to) })
  return (
    <Panel title={t("scheduled.calendar")} note={without(t, note, missing)}>
      <ul className={classes.days} aria-label={t("scheduled.calendar")}>
        {days.map((day) => (
          <li key={day.from}>
            <button type="button" className={classes.day} aria-pressed={isWithin(day)} onClick={() => onPick(from === day.from && to === day.to ? null : day)}>
              <span className={classes.date}>{dateOf(format.when(day.from + (day.to - day.from) / 2)) || t("scheduled.today")}</span>
              <span className={classes.count} data-zero={day.due === 0 || undefined}>{atLeast(count(day.due), missing)}</span>
              <span className={classes.track}>
                <span className={classes.bar} style={{ width: `${(100 * day.due) / most}%` }} />
              </span>
            </button>
          </li>
        ))}
      </ul>
      {open && <Hours day={open} spans={spansOf(hourBounds(open), buckets)} missing={missing} from={from} to={to} onPick={onPick} />}
    </Panel>
  )
}

/** Every how many hours the time is written below. */
const TICK = 6

interface HoursProps extends Pick<DueCalendarProps, "missing" | "from" | "to" | "onPick"> {
  day: Span
  spans: Span[]
}

function Hours({ day, spans, missing, from, to, onPick }: HoursProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const most = Math.max(1, ...spans.map(({ due }) => due))
  const top = spans.reduce((one, other) => (other.due > one.due ? other : one), spans[0] ?? day)
  return (
    <>
      <ul className={classes.hours} aria-label={t("scheduled.hours")}>
        {spans.map((hour, index) => {
          const words = t("scheduled.hour", { at: format.clock(hour.from).slice(0, 5), count: hour.due })
          return (
            <li key={hour.from}>
              <button
                type="button"
                className={classes.hour}
                title={words}
                aria-label={words}
                aria-pressed={from !== null && to !== null && from <= hour.from && hour.to <= to}
                onClick={() => onPick(from === hour.from && to === hour.to ? day : hour)}
              >
                <span className={classes.column} style={{ height: `${(100 * hour.due) / most}%` }} />
              </button>
              <span className={classes.tick} aria-hidden>
                {index % TICK === 0 && format.clock(hour.from).slice(0, 5)}
              </span>
            </li>
          )
        })}
      </ul>
      <p className={classes.words}>
        {without(
          t,
          top.due > 0
            ? top.onlyTopic === null
              ? t("scheduled.top", { at: format.clock(top.from).slice(0, 5), count: top.due })
              : t("scheduled.topOfOne", { at: format.clock(top.from).slice(0, 5), count: top.due, topic: top.onlyTopic })
            : t("scheduled.nothingDue"),
          missing,
        )}
      </p>
    </>
  )
}

/** A moment without its time of day. */
const dateOf = (when: string): string => when.replace(/,?\s*\d{1,2}:\d{2}(:\d{2})?.*$/, "")
