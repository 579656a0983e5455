import {
  IconAlertTriangle, IconArrowsExchange, IconBell, IconBellCheck, IconCircleCheck, IconCrown, IconDots, IconEye, IconHistory, IconPlayerPause, IconPlayerPlay, IconPlugConnected,
  IconPlugConnectedX, IconPlus, IconRefresh, IconSettings, IconTrash, IconTrendingUp, type Icon,
} from "@tabler/icons-react"
import type { ActivityEvent, EventKind } from "@/lib/api-types"

export const FAMILIES = ["clients", "lag", "topics", "groups", "brokers", "alerts"] as const
export type Family = (typeof FAMILIES)[number]

interface Look {
  family: Family | null
  icon: Icon
  tone?: "warn" | "crit" | "ok"
}

/** To which family each kind belongs, and how it looks; what has none is shown with every family. */
export const LOOKS: Record<EventKind, Look> = {
  client_joined: { family: "clients", icon: IconPlugConnected },
  client_left: { family: "clients", icon: IconPlugConnectedX },
  group_rebalanced: { family: "clients", icon: IconArrowsExchange },
  group_behind: { family: "lag", icon: IconTrendingUp, tone: "warn" },
  group_caught_up: { family: "lag", icon: IconCircleCheck, tone: "ok" },
  group_created: { family: "groups", icon: IconPlus },
  group_changed: { family: "groups", icon: IconSettings },
  group_paused: { family: "groups", icon: IconPlayerPause, tone: "warn" },
  group_resumed: { family: "groups", icon: IconPlayerPlay },
  group_deleted: { family: "groups", icon: IconTrash },
  offsets_changed: { family: "groups", icon: IconHistory },
  topic_created: { family: "topics", icon: IconPlus },
  topic_changed: { family: "topics", icon: IconSettings },
  topic_purged: { family: "topics", icon: IconTrash },
  topic_deleted: { family: "topics", icon: IconTrash },
  broker_went: { family: "brokers", icon: IconAlertTriangle, tone: "crit" },
  broker_came: { family: "brokers", icon: IconCircleCheck, tone: "ok" },
  broker_restarted: { family: "brokers", icon: IconRefresh, tone: "warn" },
  broker_changed: { family: "brokers", icon: IconSettings },
  master_changed: { family: "brokers", icon: IconCrown, tone: "warn" },
  name_server_went: { family: "brokers", icon: IconAlertTriangle, tone: "crit" },
  name_server_came: { family: "brokers", icon: IconCircleCheck, tone: "ok" },
  alert_fired: { family: "alerts", icon: IconBell, tone: "crit" },
  alert_resolved: { family: "alerts", icon: IconBellCheck, tone: "ok" },
  watch_began: { family: null, icon: IconEye },
  left_out: { family: null, icon: IconDots, tone: "warn" },
}

export const familyOf = (word: string | undefined): Family | null => FAMILIES.find((family) => family === word) ?? null

/** A gap belongs to every family: what is missing there may be of any. */
export const isOf = (event: ActivityEvent, family: Family | null): boolean => {
  const own = LOOKS[event.kind].family
  return family === null || own === null || own === family
}
