import { useTranslation } from "react-i18next"
import type { MissingBroker } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"
import classes from "./messages.module.css"

/** The brokers whose messages a list of them lacks, each with the reason. */
export function MissingBrokers({ missing }: { missing: readonly MissingBroker[] }) {
  const { t } = useTranslation()
  return missing.map(({ broker, reason }) => (
    <p key={broker} className={classes.summary} role="status">
      {t("messages.unread", { broker, reason: reasonIn(t, reason) })}
    </p>
  ))
}

/** What any of the pages lacks: a broker that is left out of one is left out of those behind it too. */
export function missingOf(pages: readonly { missing: MissingBroker[] }[] = []): MissingBroker[] {
  return [...new Map(pages.flatMap(({ missing }) => missing).map((each) => [each.broker, each])).values()]
}
