import { IconCircleCheck, IconCircleX, IconClockPause, IconPlayerPause, IconPlayerPlay, IconPlayerStopFilled, IconRefreshAlert } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { Job } from "@/lib/api-types"
import { Badge } from "./badge"

const LOOKS = {
  queued: { tone: "grey", icon: IconClockPause },
  running: { tone: "accent", icon: IconPlayerPlay },
  paused: { tone: "grey", icon: IconPlayerPause },
  succeeded: { tone: "ok", icon: IconCircleCheck },
  partial: { tone: "warn", icon: IconRefreshAlert },
  failed: { tone: "crit", icon: IconCircleX },
  cancelled: { tone: "grey", icon: IconPlayerStopFilled },
} as const

export function JobState({ state }: { state: Job["state"] }) {
  const { t } = useTranslation()
  return <Badge {...LOOKS[state]}>{t(`jobStates.${state}`)}</Badge>
}
