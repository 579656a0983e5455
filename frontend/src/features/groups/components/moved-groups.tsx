import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import type { GroupMove, GroupPlan } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import classes from "./groups.module.css"

/** What a move would do to each group in each topic, and to the clients that are connected. */
export function Plans({ items }: { items: readonly GroupPlan[] }) {
  const { t } = useTranslation()
  return (
    <>
      <div className={classes.plans}>
        <table>
          <thead>
            <tr>
              <th>{t("groupOffsets.group")}</th>
              <th>{t("offsets.topic")}</th>
              <th>{t("groupOffsets.lag")}</th>
              <th>{t("groupOffsets.newLag")}</th>
              <th>{t("offsets.effect")}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={`${item.group}/${item.topic ?? ""}`}>
                <td>{item.group}</td>
                <td>{item.topic}</td>
                <td>{item.outcome === "planned" && written(t, item.lag)}</td>
                <td>{item.outcome === "planned" && written(t, item.new_lag)}</td>
                <td>{effectOf(t, item)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p>{membersWords(t, items)}</p>
    </>
  )
}

const written = (t: TFunction, value: number | null) => (value === null ? t("groupBulk.hitUnknown") : count(value))

function effectOf(t: TFunction, item: GroupPlan): string {
  if (item.outcome === "unchanged") return t("groupOffsets.unchanged")
  if (item.outcome !== "planned") return t("groupBulk.refused", { reason: reasonIn(t, item.reason ?? "") })
  const words = [
    item.to_replay ? t("offsets.again", { n: count(item.to_replay) }) : "",
    item.skipped ? t("offsets.never", { n: count(item.skipped) }) : "",
    ...item.warnings.map((warning) => t(`offsets.warnings.${warning}`)),
    ...item.unknown.map(({ broker, reason }) => t("offsets.unknown", { broker, reason: reasonIn(t, reason) })),
  ]
  return words.filter(Boolean).join(" · ")
}

/** A group is counted once, in however many topics it is moved. */
function membersWords(t: TFunction, items: readonly GroupPlan[]): string {
  const members = new Map(items.filter(({ outcome }) => outcome === "planned").map(({ group, members }) => [group, members]))
  const known = [...members.values()]
  if (known.includes(null)) return t("groupOffsets.membersUnknown")
  const n = known.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  return n === 0 ? t("groupOffsets.noMembers") : t("groupOffsets.members", { count: n, n: count(n) })
}

/** What became of each, with the way to its offsets. */
export function Moves({ items, isUndo }: { items: readonly GroupMove[]; isUndo: boolean }) {
  const { t } = useTranslation()
  const done = items.filter(({ outcome }) => outcome === "done").length
  return (
    <>
      <p aria-live="polite">{t(isUndo ? "groupOffsets.undone" : "groupOffsets.moved", { n: count(done), of: count(items.length) })}</p>
      <ul className={classes.hit}>
        {items.map((item, place) => (
          <li key={place}>
            <Link to="/groups/$group/offsets" params={{ group: item.group }}>
              {item.group}
            </Link>{" "}
            {item.topic}{" "}
            <small>
              {t(`groupOffsets.outcomes.${item.outcome}`)}
              {item.reason !== null && `: ${reasonIn(t, item.reason)}`}
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}
