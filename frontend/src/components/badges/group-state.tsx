import { IconCircleCheck, IconMoon, IconTrendingUp } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { GroupSummary } from "@/lib/api-types"
import { Badge, UnknownBadge } from "./badge"

const LOOKS = {
  active: { tone: "quiet", icon: IconCircleCheck },
  idle: { tone: "quiet", icon: IconMoon },
  growing: { tone: "warn", icon: IconTrendingUp },
} as const

export function GroupState({ state }: { state: GroupSummary["state"] }) {
  const { t } = useTranslation()
  if (state === "unknown") return <UnknownBadge>{t("groupStates.unknown")}</UnknownBadge>
  return <Badge {...LOOKS[state]}>{t(`groupStates.${state}`)}</Badge>
}
