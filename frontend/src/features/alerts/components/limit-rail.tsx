import { UnknownRail } from "@/components/rail/rail"
import type { Alert } from "@/lib/api-types"
import { railShare } from "../measure"
import classes from "./alerts.module.css"

interface LimitRailProps {
  value: number | null
  limit: number
  state: Alert["shown"]
}

/** From 0 to twice the limit, whose tick is in the middle: lag, time and per cent read alike. */
export function LimitRail({ value, limit, state }: LimitRailProps) {
  if (value === null || state === "no_data") return <UnknownRail />
  const share = `${railShare(value, limit) * 100}%`
  return (
    <div className={classes.rail} aria-hidden>
      <div className={classes.railLine} />
      <div className={classes.railLoad} data-state={state} style={{ width: share }} />
      <div className={classes.railTick} />
      <div className={classes.railEnd} style={{ insetInlineStart: share }} />
    </div>
  )
}
