import { useTranslation } from "react-i18next"
import type { ReadFromSlave } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"

/** The slaves that were read because their masters are away: what is shown may lack the newest messages. */
export function ReadFromSlaves({ slaves }: { slaves: readonly ReadFromSlave[] }) {
  const { t } = useTranslation()
  return slaves.map(({ broker, broker_id: id, reason }) => (
    <p key={broker} className="micro" role="status">
      {t("messages.fromSlave", { broker, id, reason: reasonIn(t, reason) })}
    </p>
  ))
}

/** The slaves that any of the pages was read from, one of each broker. */
export function slavesOf(pages: readonly { from_slaves?: ReadFromSlave[] }[] = []): ReadFromSlave[] {
  return [...new Map(pages.flatMap(({ from_slaves: slaves = [] }) => slaves).map((each) => [each.broker, each])).values()]
}
