import classes from "./rail.module.css"

export type RailTone = "normal" | "growing" | "over" | "ours"

const at = (ratio: number) => `${Math.min(1, Math.max(0, ratio)) * 100}%`

/** Lag: the load hangs between the trolley (where the group is) and the head (the newest message). */
export function LagRail({ lag, scale, tone = "normal" }: { lag: number | null; scale: number; tone?: RailTone }) {
  if (lag === null) return <UnknownRail />
  const share = scale > 0 ? Math.min(1, lag / scale) : 0
  return (
    <div className={classes.rail} aria-hidden>
      <div className={classes.line} />
      <div className={classes.load} data-tone={tone} style={{ insetInlineStart: at(1 - share), width: at(share) }} />
      <div
        className={classes.trolley}
        data-ours={tone === "ours" || undefined}
        style={{ insetInlineStart: `calc(${at(1 - share)} - ${lag === 0 ? 1 : 0}px)` }}
      />
      <div className={classes.end} />
    </div>
  )
}

export function UnknownRail() {
  return (
    <div className={classes.rail} aria-hidden>
      <div className={classes.hatch} />
      <div className={classes.end} />
    </div>
  )
}

/** Progress: what is done fills the rail from its start to the trolley. */
export function ProgressRail({ ratio, tall = false }: { ratio: number | null; tall?: boolean }) {
  if (ratio === null) return <UnknownRail />
  const isDone = ratio >= 1
  return (
    <div className={`${classes.rail} ${tall ? classes.tall : ""}`} aria-hidden>
      <div className={classes.line} />
      <div className={classes.end} />
      <div className={classes.load} data-tone="ours" style={{ width: at(ratio) }} />
      {!isDone && <div className={classes.trolley} data-ours={tall ? undefined : true} style={{ insetInlineStart: at(ratio) }} />}
    </div>
  )
}

/** A range of a longer rail; a cut end fades out. */
export function RangeRail({ from, to, cut = "start end" }: { from: number; to: number; cut?: string }) {
  return (
    <div className={classes.rail} aria-hidden>
      <div className={classes.line} data-cut={cut} />
      <div
        className={classes.load}
        data-tone="ours"
        style={{ insetInlineStart: at(from), width: at(Math.max(to - from, 0.004)) }}
      />
    </div>
  )
}

/** The rail with nothing on it, for empty panels. */
export function EmptyRail() {
  return (
    <div className={`${classes.rail} ${classes.empty}`} aria-hidden>
      <div className={classes.line} />
      <div className={classes.start} />
      <div className={classes.trolley} />
      <div className={classes.end} />
    </div>
  )
}
