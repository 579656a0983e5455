import { IconAlertTriangle } from "@tabler/icons-react"
import type { ReactNode } from "react"
import classes from "./layout.module.css"

interface PanelProps {
  title?: ReactNode
  note?: ReactNode
  actions?: ReactNode
  grow?: boolean
  children: ReactNode
}

/** A sheet with a title line; hairlines, no shadow. */
export function Panel({ title, note, actions, grow, children }: PanelProps) {
  return (
    <section className={classes.panel} data-grow={grow || undefined}>
      {title !== undefined && (
        <header className={classes.panelHead}>
          <h2>{title}</h2>
          {note !== undefined && <span className={classes.panelNote}>{note}</span>}
          {actions !== undefined && <div className={classes.panelActions}>{actions}</div>}
        </header>
      )}
      {children}
    </section>
  )
}

export const PanelFoot = ({ children }: { children: ReactNode }) => <footer className={classes.foot}>{children}</footer>

/** Names and values, one under the other. */
export function Definitions({ items }: { items: [name: string, value: ReactNode][] }) {
  return (
    <dl className={classes.definitions}>
      {items.map(([name, value]) => (
        <Definition key={name} name={name} value={value} />
      ))}
    </dl>
  )
}

const Definition = ({ name, value }: { name: string; value: ReactNode }) => (
  <>
    <dt>{name}</dt>
    <dd>{value}</dd>
  </>
)

/** Something one should know before going on. */
export function Callout({ tone = "warn", children }: { tone?: "warn" | "crit"; children: ReactNode }) {
  return (
    <div className={classes.callout} data-tone={tone} role="note">
      <IconAlertTriangle size={16} stroke={1.6} aria-hidden />
      <div>{children}</div>
    </div>
  )
}
