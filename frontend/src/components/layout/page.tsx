import { useDocumentTitle } from "@mantine/hooks"
import { type CSSProperties, type ReactNode, useEffect } from "react"
import { StaleBadge, StaleNotice } from "@/components/states/stale"
import stateClasses from "@/components/states/states.module.css"
import { useAge } from "@/hooks/use-age"
import { pageTitle } from "@/lib/page-title"
import classes from "./layout.module.css"

interface PageProps {
  title: string
  badge?: ReactNode
  facts?: ReactNode
  actions?: ReactNode
  /** Lists and search fill the viewport and scroll inside. */
  fill?: boolean
  /** When what moves on this page was last heard; older than allowed is shown as stale. */
  updatedAt?: number
  staleAfterMs?: number
  children: ReactNode
}

const STALE_AFTER_MS = 15_000

/** A page: the head strip, then its panels. */
export function Page({ title, badge, facts, actions, fill, updatedAt = 0, staleAfterMs = STALE_AFTER_MS, children }: PageProps) {
  const age = useAge(updatedAt, staleAfterMs)
  useDocumentTitle(`${title} · Gantry`)
  useEffect(() => pageTitle.set(title), [title])
  return (
    <div className={classes.page} data-fill={fill || undefined}>
      <header className={classes.head}>
        <div className={classes.titles}>
          <h1 className={classes.title}>{title}</h1>
          {badge}
          {age !== null && <StaleBadge ageMs={age} />}
          {facts !== undefined && <div className={classes.facts}>{facts}</div>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </header>
      {age !== null && <StaleNotice at={updatedAt} />}
      <div className={age === null ? classes.through : stateClasses.stale}>{children}</div>
    </div>
  )
}

interface ColumnsProps {
  main: ReactNode
  side: ReactNode
  sideWidth?: number
  stretch?: boolean
}

/** A main column and a side column; the side goes under the main where it is narrow. */
export function Columns({ main, side, sideWidth = 348, stretch = false }: ColumnsProps) {
  return (
    <div className={classes.beside}>
      <div
        className={classes.columns}
        data-stretch={stretch || undefined}
        style={{ "--side": `${sideWidth}px` } as CSSProperties}
      >
        <div className={classes.column}>{main}</div>
        <div className={classes.column}>{side}</div>
      </div>
    </div>
  )
}
