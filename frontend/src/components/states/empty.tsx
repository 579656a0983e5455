import type { ReactNode } from "react"
import { EmptyRail } from "@/components/rail/rail"
import classes from "./states.module.css"

interface EmptyProps {
  title: string
  /** What happens next, or how it fills. */
  next?: ReactNode
  actions?: ReactNode
  small?: boolean
}

/** Nothing here: why, and what to do next. */
export function Empty({ title, next, actions, small }: EmptyProps) {
  return (
    <div className={classes.empty} data-small={small || undefined}>
      <EmptyRail />
      <p className={classes.what}>{title}</p>
      {next !== undefined && <p>{next}</p>}
      {actions !== undefined && <div className={classes.buttons}>{actions}</div>}
    </div>
  )
}
