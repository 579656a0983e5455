import { Checkbox } from "@mantine/core"
import { Fragment, useState } from "react"
import { useTranslation } from "react-i18next"
import { Failed } from "@/components/states/failed"
import { Loading } from "@/components/states/loading"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import type { DeadLetterGroup } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useCauses } from "../api/get-causes"
import { type Picks, withCause, withGroup } from "../picks"
import { CauseRow, GroupRow } from "./cause-rows"
import classes from "./dead-letters.module.css"

const OPEN_AT_FIRST = 6

interface CauseTreeProps {
  cluster: string
  groups: DeadLetterGroup[]
  picks: Picks
  onPicks: (picks: Picks) => void
}

/** Groups with their causes; what is ticked is what a redrive would send. */
export function CauseTree({ cluster, groups, picks, onPicks }: CauseTreeProps) {
  const { t } = useTranslation()
  const [folded, setFolded] = useState<Record<string, boolean>>({})
  const isOpen = (name: string, index: number) => folded[name] === undefined ? index < OPEN_AT_FIRST : !folded[name]
  const open = groups.filter(({ name }, index) => isOpen(name, index)).map(({ name }) => name)
  const causes = useCauses(cluster, open)
  const scale = Math.max(1, ...causes.flatMap(({ data }) => data?.items.map((cause) => cause.count) ?? []))
  const picked = groups.filter(({ name }) => picks[name] === "all").length
  return (
    <div className={classes.scroll}>
      <table className={classes.tree}>
        <thead>
          <tr>
            <th className={classes.tick}>
              <Checkbox
                size="14px"
                aria-label={t("deadLetters.pickAll")}
                checked={picked === groups.length}
                indeterminate={picked < groups.length && Object.keys(picks).length > 0}
                onChange={(event) => onPicks(event.currentTarget.checked ? Object.fromEntries(groups.map(({ name }) => [name, "all" as const])) : {})}
              />
            </th>
            <th>{t("deadLetters.groupAndCause")}</th>
            <th className={classes.wide}>{t("deadLetters.readFrom")}</th>
            <th className={classes.number}>{t("deadLetters.messages")}</th>
            <th className={`${classes.number} ${classes.wide}`}>{count(scale)}</th>
            <th className={`${classes.number} ${classes.wide}`}>{t("deadLetters.first")}</th>
            <th className={classes.number}>{t("deadLetters.last")}</th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group, index) => {
            const { name } = group
            const query = causes[open.indexOf(name)]
            return (
              <Fragment key={name}>
                <GroupRow
                  group={group}
                  picked={picks[name]}
                  isOpen={isOpen(name, index)}
                  onPick={(isOn) => onPicks(withGroup(picks, name, isOn))}
                  onFold={() => setFolded({ ...folded, [name]: isOpen(name, index) })}
                />
                {query && <Causes group={name} query={query} picks={picks} scale={scale} onPicks={onPicks} />}
              </Fragment>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

interface CausesProps extends Pick<CauseTreeProps, "picks" | "onPicks"> {
  group: string
  query: ReturnType<typeof useCauses>[number]
  scale: number
}

function Causes({ group, query, picks, scale, onPicks }: CausesProps) {
  const { t } = useTranslation()
  if (!query.data)
    return (
      <tr>
        <td colSpan={7}>{query.error ? <Failed what={t("deadLetters.causesFailed")} error={query.error} retry={() => void query.refetch()} /> : <Loading skeleton={<SkeletonRows />} />}</td>
      </tr>
    )
  const { items, read, stored, complete } = query.data
  return (
    <>
      {items.map((cause) => (
        <CauseRow
          key={`${cause.read_from} ${cause.reason ?? ""}`}
          group={group}
          cause={cause}
          picked={picks[group]}
          scale={scale}
          onPick={() => onPicks(withCause(picks, group, cause.reason, items))}
        />
      ))}
      {!complete && (
        <tr>
          <td />
          <td colSpan={6} className={classes.quiet}>
            <div className={classes.cause}>{read === 0 && stored === null ? t("states.unknown") : t("deadLetters.partly", { read: count(read), stored: stored === null ? "—" : count(stored) })}</div>
          </td>
        </tr>
      )}
    </>
  )
}
