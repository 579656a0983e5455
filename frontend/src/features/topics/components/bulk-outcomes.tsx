import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { BulkTopic } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import classes from "./topics.module.css"

/** The topics of a change that are not done, each with its reason. */
export function BulkOutcomes({ items }: { items: readonly BulkTopic[] }) {
  const { t } = useTranslation()
  if (items.length === 0) return null
  return (
    <Callout>
      {t("bulkTopics.lacking", { count: items.length })}
      <ul className={classes.outcomes}>
        {items.map((item) => (
          <li key={item.name}>
            <b>{item.name}</b> {t(`bulkTopics.outcomes.${item.outcome}`)}: {reasonIn(t, reasonOf(item))}
          </li>
        ))}
      </ul>
    </Callout>
  )
}

const reasonOf = ({ reason, brokers }: BulkTopic): string =>
  reason ?? brokers.filter(({ done }) => !done).map((each) => each.reason ?? each.broker).join("; ")
