import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { MissingBroker } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"

/** The brokers whose part of a list is not known, and why. */
export function MissingBrokers({ missing }: { missing: readonly MissingBroker[] }) {
  const { t } = useTranslation()
  return missing.map(({ broker, reason }) => <Callout key={broker}>{t("states.missing", { broker, reason: reasonIn(t, reason) })}</Callout>)
}
