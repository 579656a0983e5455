import { IconArrowsSplit2, IconCircleCheck, IconMoon, IconPlayerPause, IconPlayerPlay, IconTrendingUp } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { GroupSummary } from "@/lib/api-types"
import { Badge, UnknownBadge } from "./badge"

const LOOKS = {
  idle: { tone: "quiet", icon: IconMoon },
  caught_up: { tone: "quiet", icon: IconCircleCheck },
  consuming: { tone: "quiet", icon: IconPlayerPlay },
  growing: { tone: "warn", icon: IconTrendingUp },
  stalled: { tone: "warn", icon: IconPlayerPause },
  inconsistent: { tone: "warn", icon: IconArrowsSplit2 },
} as const

export function GroupState({ state }: { state: GroupSummary["state"] }) {
  const { t } = useTranslation()
  if (state === "unknown") return <UnknownBadge>{t("groupStates.unknown")}</UnknownBadge>
  return <Badge {...LOOKS[state]}>{t(`groupStates.${state}`)}</Badge>
}
