import type { PlannedQueue } from "@/lib/api-types"
import classes from "./offsets.module.css"

/** Now is hollow, after is solid; what comes again is soft, what is skipped is hatched. It ends at the newest message. */
export function OffsetRail({ queue }: { queue: PlannedQueue }) {
  const { current, new: to, max } = queue
  if (current === null || to === null) return <div className={classes.rail} aria-hidden />
  const low = Math.min(current, to)
  const room = Math.max(1, max - low)
  const begin = low - room * 0.12
  const at = (offset: number) => `${Math.min(100, Math.max(0, ((offset - begin) / (max - begin || 1)) * 100))}%`
  return (
    <div className={classes.rail} aria-hidden>
      <div className={classes.line} />
      <div className={to > current ? classes.lost : classes.span} style={{ insetInlineStart: at(low), width: `calc(${at(Math.max(current, to))} - ${at(low)})` }} />
      <div className={classes.now} style={{ insetInlineStart: at(current) }} />
      <div className={classes.after} style={{ insetInlineStart: at(to) }} />
      <div className={classes.end} />
    </div>
  )
}
