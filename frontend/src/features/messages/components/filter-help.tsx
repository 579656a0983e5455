import { useTranslation } from "react-i18next"
import { readFilter } from "../filter-text"
import { filterFault } from "../search-state"
import classes from "./messages.module.css"

const EXAMPLE = "tag = paid and property.source = web and $.amount >= 100"

/** The conditions as they are understood, or what is wrong with their text and where. */
export function FilterHelp({ where }: { where: string | undefined }) {
  const { t } = useTranslation()
  const fault = filterFault(where)
  if (fault) {
    return (
      <p className={classes.fault} role="alert">
        {t(`find.faults.${fault.kind}`, { what: fault.what || t("find.theEnd"), n: fault.at + 1 })}
      </p>
    )
  }
  const conditions = readFilter(where ?? "")
  if (conditions.length === 0) {
    return (
      <p className={classes.summaryBelow}>
        {t("find.example")} <span className="mono">{EXAMPLE}</span>
      </p>
    )
  }
  return (
    <ul className={classes.conditions} aria-label={t("find.conditions")}>
      {conditions.map(({ field, operator, value }, index) => (
        <li key={index} className="mono">
          {[field, operator, value].filter((part) => part !== undefined).join(" ")}
        </li>
      ))}
    </ul>
  )
}
