import { IconAlertTriangle } from "@tabler/icons-react"
import type { ReactNode } from "react"
import classes from "./layout.module.css"

export interface KeyFigure {
  label: string
  value: ReactNode
  unit?: string | undefined
  fact?: ReactNode
  tone?: "warn" | "crit" | undefined
  /** A colour that a chart and a table share with this figure. */
  swatch?: string | undefined
}

const MOST_WARM = 2

/** The row of key numbers under a title. The number stays ink; never more than two cells are warm. */
export function TitleBlock({ figures, inside = false }: { figures: KeyFigure[]; inside?: boolean }) {
  let warm = 0
  return (
    <div className={classes.block} data-inside={inside || undefined}>
      {figures.map((figure) => {
        const isWarm = figure.tone !== undefined && ++warm <= MOST_WARM
        return <Cell key={figure.label} {...figure} tone={isWarm ? figure.tone : undefined} inside={inside} />
      })}
    </div>
  )
}

function Cell({ label, value, unit, fact, tone, swatch, inside }: KeyFigure & { inside: boolean }) {
  return (
    <div className={classes.cell} data-tone={tone}>
      <div className={classes.label}>
        {tone && <IconAlertTriangle size={13} stroke={1.6} aria-hidden />}
        {swatch && <span className={classes.swatch} style={{ background: swatch }} aria-hidden />}
        {label}
      </div>
      <div className={classes.value} data-small={inside || undefined}>
        {value}
        {unit && <small>{unit}</small>}
      </div>
      <div className={classes.fact}>{fact}</div>
    </div>
  )
}
