import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { GroupState } from "@/components/badges/group-state"
import { LagRail } from "@/components/rail/rail"
import type { GroupSummary } from "@/lib/api-types"
import { Lag, railTone, TimeLag } from "./group-columns"
import classes from "./groups.module.css"

/** For a phone: the whole name, then lag before anything else, over a rail of full width. */
export function GroupRows({ rows, scale, onEnd }: { rows: readonly GroupSummary[]; scale: number; onEnd?: (() => void) | undefined }) {
  const { t } = useTranslation()
  return (
    <ul aria-label={t("nav.groups")}>
      {rows.map((group) => (
        <li key={group.name} className={classes.row}>
          <Link to="/groups/$group" params={{ group: group.name }}>
            {group.name}
          </Link>
          <b>
            <Lag group={group} />
          </b>
          <GroupState state={group.state} />
          <small>
            <TimeLag group={group} />
          </small>
          <div className={classes.rail}>
            <LagRail lag={group.lag} scale={scale} tone={railTone(group)} />
          </div>
        </li>
      ))}
      {onEnd && (
        <li className={classes.more}>
          <button type="button" onClick={onEnd}>
            {t("table.more")}
          </button>
        </li>
      )}
    </ul>
  )
}
