import type { Icon } from "@tabler/icons-react"
import type { ReactNode } from "react"
import classes from "./badges.module.css"

export type Tone = "quiet" | "grey" | "warn" | "crit" | "accent" | "ok"

interface BadgeProps {
  tone: Tone
  icon?: Icon | undefined
  children: ReactNode
}

/** A state: icon and word. Quiet states have no box. */
export function Badge({ tone, icon: BadgeIcon, children }: BadgeProps) {
  return (
    <span className={classes.badge} data-tone={tone}>
      {BadgeIcon && <BadgeIcon size={13} stroke={1.6} aria-hidden />}
      {children}
    </span>
  )
}

/** Unknown: a swatch of hatch and the plain word beside it. */
export function UnknownBadge({ children }: { children: ReactNode }) {
  return (
    <span className={classes.badge} data-tone="quiet">
      <span className={classes.hatch} aria-hidden />
      {children}
    </span>
  )
}

export const Tag = ({ children }: { children: string }) => (
  <span className={classes.tag} title={children}>
    {children}
  </span>
)

interface ChipProps {
  isOn: boolean
  onClick: () => void
  children: ReactNode
  count?: string | undefined
  dashed?: boolean
}

/** A switch of a filter row; its count in small. */
export function Chip({ isOn, onClick, children, count, dashed = false }: ChipProps) {
  return (
    <button type="button" className={classes.chip} aria-pressed={isOn} data-dashed={dashed || undefined} onClick={onClick}>
      {children}
      {count !== undefined && <small>{count}</small>}
    </button>
  )
}
