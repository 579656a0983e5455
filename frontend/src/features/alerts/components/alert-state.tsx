import { IconBellOff, IconBolt, IconCircleCheck, IconClockPause, IconUserCheck } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import type { Alert } from "@/lib/api-types"

const LOOKS = {
  pending: { tone: "warn", icon: IconClockPause },
  firing: { tone: "crit", icon: IconBolt },
  acknowledged: { tone: "accent", icon: IconUserCheck },
  silenced: { tone: "grey", icon: IconBellOff },
  resolved: { tone: "ok", icon: IconCircleCheck },
} as const

/** The state of an alert as it is shown; without data it is a hatch, never a good word. */
export function AlertState({ state }: { state: Alert["shown"] }) {
  const { t } = useTranslation()
  if (state === "no_data") return <UnknownBadge>{t("alerts.states.no_data")}</UnknownBadge>
  return <Badge {...LOOKS[state]}>{t(`alerts.states.${state}`)}</Badge>
}
