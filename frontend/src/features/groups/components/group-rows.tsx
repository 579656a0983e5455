import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { GroupState } from "@/components/badges/group-state"
import { PhoneRail, PhoneRows } from "@/components/data-table/phone-rows"
import { LagRail } from "@/components/rail/rail"
import type { GroupSummary } from "@/lib/api-types"
import { Lag, railTone, TimeLag } from "./group-columns"

/** For a phone: the whole name, then lag before anything else, over a rail of full width. */
export function GroupRows({ rows, scale, onEnd }: { rows: readonly GroupSummary[]; scale: number; onEnd?: (() => void) | undefined }) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("nav.groups")} rows={rows} onEnd={onEnd}>
      {(group) => (
        <>
          <Link to="/groups/$group" params={{ group: group.name }}>
            {group.name}
          </Link>
          <b>
            <Lag group={group} />
          </b>
          <span>
            <GroupState group={group} />
          </span>
          <small>
            <TimeLag group={group} />
          </small>
          <PhoneRail>
            <LagRail lag={group.lag} scale={scale} tone={railTone(group)} />
          </PhoneRail>
        </>
      )}
    </PhoneRows>
  )
}
