import { useDocumentTitle } from "@mantine/hooks"
import { type CSSProperties, type ReactNode, useEffect } from "react"
import { pageTitle } from "@/lib/page-title"
import classes from "./layout.module.css"

interface PageProps {
  title: string
  badge?: ReactNode
  facts?: ReactNode
  actions?: ReactNode
  /** Lists and search fill the viewport and scroll inside. */
  fill?: boolean
  children: ReactNode
}

/** A page: the head strip, then its panels. */
export function Page({ title, badge, facts, actions, fill, children }: PageProps) {
  useDocumentTitle(`${title} · Gantry`)
  useEffect(() => pageTitle.set(title), [title])
  return (
    <div className={classes.page} data-fill={fill || undefined}>
      <header className={classes.head}>
        <div className={classes.titles}>
          <h1 className={classes.title}>{title}</h1>
          {badge}
          {facts !== undefined && <div className={classes.facts}>{facts}</div>}
        </div>
        {actions !== undefined && <div className={classes.actions}>{actions}</div>}
      </header>
      {children}
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
    <div
      className={classes.columns}
      data-stretch={stretch || undefined}
      style={{ "--side": `${sideWidth}px` } as CSSProperties}
    >
      <div className={classes.column}>{main}</div>
      <div className={classes.column}>{side}</div>
    </div>
  )
}
