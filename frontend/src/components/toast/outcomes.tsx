import { useTranslation } from "react-i18next"
import type { BrokerOutcome } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"

/** What each broker made of a change; of one that was asked and did not answer nobody knows. */
export function Outcomes({ brokers }: { brokers: readonly BrokerOutcome[] }) {
  const { t } = useTranslation()
  const words = ({ broker, done, reason }: BrokerOutcome) =>
    done ? t("partly.did", { broker }) : t(done === null ? "partly.unknown" : "partly.didNot", { broker, reason: reasonIn(t, reason ?? "") })
  return (
    <ul>
      {brokers.map((each) => (
        <li key={each.broker}>{words(each)}</li>
      ))}
    </ul>
  )
}
