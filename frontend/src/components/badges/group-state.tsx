import { IconArrowsSplit2, IconCircleCheck, IconMoon, IconPlayerPause, IconPlayerPlay, IconPlayerStop, IconTrendingUp } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { GroupSummary } from "@/lib/api-types"
import { isPaused } from "@/lib/lag"
import { Badge, UnknownBadge } from "./badge"

const LOOKS = {
  idle: { tone: "quiet", icon: IconMoon },
  caught_up: { tone: "quiet", icon: IconCircleCheck },
  consuming: { tone: "quiet", icon: IconPlayerPlay },
  growing: { tone: "warn", icon: IconTrendingUp },
  stalled: { tone: "warn", icon: IconPlayerStop },
  inconsistent: { tone: "warn", icon: IconArrowsSplit2 },
} as const

/** The state of a group; one that somebody paused says so instead, because its lag is meant to stay. */
export function GroupState({ group: { state, delivery } }: { group: Pick<GroupSummary, "state" | "delivery"> }) {
  const { t } = useTranslation()
  if (isPaused({ delivery })) return <Paused>{t("groupStates.paused")}</Paused>
  const badge = state === "unknown" ? <UnknownBadge>{t("groupStates.unknown")}</UnknownBadge> : <Badge {...LOOKS[state]}>{t(`groupStates.${state}`)}</Badge>
  if (delivery !== "partly_paused") return badge
  return (
    <>
      {badge} <Paused>{t("groupStates.partlyPaused")}</Paused>
    </>
  )
}

const Paused = ({ children }: { children: string }) => (
  <Badge tone="grey" icon={IconPlayerPause}>
    {children}
  </Badge>
)
