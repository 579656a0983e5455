import type { ReactNode } from "react"
import classes from "./messages.module.css"

/** The head of a section: name, fact in small, control at the right. */
export function SectionHead({ name, fact, children }: { name: string; fact?: string; children?: ReactNode }) {
  return (
    <div className={classes.sectionHead}>
      <h2>{name}</h2>
      <span className="micro">{fact}</span>
      {children && <div>{children}</div>}
    </div>
  )
}
