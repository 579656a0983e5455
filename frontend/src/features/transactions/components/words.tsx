import { IconArrowBackUp, IconCheck, IconClockPause, IconPlugConnected, IconPlugConnectedX, IconPlayerStop } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import { Time } from "@/components/values/time"
import type { TransactionRow } from "@/lib/api-types"

const BADGES = {
  open: { tone: "accent", icon: IconClockPause },
  given_up: { tone: "warn", icon: IconPlayerStop },
  committed: { tone: "ok", icon: IconCheck },
  rolled_back: { tone: "grey", icon: IconArrowBackUp },
} as const

/** How a transaction stands. */
export function StateBadge({ state }: { state: TransactionRow["state"] }) {
  const { t } = useTranslation()
  if (state === "unknown") return <UnknownBadge>{t("states.unknown")}</UnknownBadge>
  const { tone, icon } = BADGES[state]
  return (
    <Badge tone={tone} icon={icon}>
      {t(`transactions.states.${state}`)}
    </Badge>
  )
}

/** Whether somebody of the producer group is there to be asked. */
export function Connected({ is }: { is: boolean | null }) {
  const { t } = useTranslation()
  if (is === null) return <UnknownBadge>{t("states.unknown")}</UnknownBadge>
  return is ? (
    <Badge tone="quiet" icon={IconPlugConnected}>
      {t("transactions.connected")}
    </Badge>
  ) : (
    <Badge tone="warn" icon={IconPlugConnectedX}>
      {t("transactions.notConnected")}
    </Badge>
  )
}

/** When its producers are asked next; without one that is connected, not before one comes. */
export function NextCheck({ row }: { row: Pick<TransactionRow, "next_check_at" | "producer_connected"> }) {
  const { t } = useTranslation()
  if (row.next_check_at) return <Time at={row.next_check_at} />
  return <span>{t(row.producer_connected === false ? "transactions.waitsForProducer" : "states.unknown")}</span>
}
