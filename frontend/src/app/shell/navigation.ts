import {
  type Icon,
  IconApi,
  IconArrowsSplit2,
  IconBell,
  IconBroadcast,
  IconCalendarClock,
  IconCalendarTime,
  IconKey,
  IconLayoutDashboard,
  IconListCheck,
  IconMailX,
  IconMessage2Search,
  IconPlayerTrackNext,
  IconServer2,
  IconServerCog,
  IconSettings,
  IconStack2,
  IconUsersGroup,
} from "@tabler/icons-react"
import type { Right } from "@/hooks/use-rights"

export interface NavEntry {
  id: "overview" | "live" | "alerts" | "topics" | "groups" | "messages" | "deadLetters" | "scheduled" | "transactions" | "jobs" | "schedules" | "broker" | "clusters" | "access" | "audit" | "apiReference" | "settings"
  to: "/" | "/live" | "/alerts" | "/topics" | "/groups" | "/messages" | "/dead-letters" | "/scheduled" | "/transactions" | "/jobs" | "/schedules" | "/broker" | "/clusters" | "/access" | "/audit" | "/api-reference" | "/settings"
  icon: Icon
  right: Right | null
}

export interface NavGroup {
  id: "observe" | "data" | "work" | "run"
  entries: NavEntry[]
}

/** The side bar shows only what exists. */
export const navigation: NavGroup[] = [
  {
    id: "observe",
    entries: [
      { id: "overview", to: "/", icon: IconLayoutDashboard, right: null },
      { id: "live", to: "/live", icon: IconBroadcast, right: null },
      { id: "alerts", to: "/alerts", icon: IconBell, right: null },
    ],
  },
  {
    id: "data",
    entries: [
      { id: "topics", to: "/topics", icon: IconStack2, right: null },
      { id: "groups", to: "/groups", icon: IconUsersGroup, right: null },
      { id: "messages", to: "/messages", icon: IconMessage2Search, right: null },
      { id: "deadLetters", to: "/dead-letters", icon: IconMailX, right: null },
      { id: "scheduled", to: "/scheduled", icon: IconCalendarClock, right: null },
      { id: "transactions", to: "/transactions", icon: IconArrowsSplit2, right: null },
    ],
  },
  {
    id: "work",
    entries: [
      { id: "jobs", to: "/jobs", icon: IconPlayerTrackNext, right: null },
      { id: "schedules", to: "/schedules", icon: IconCalendarTime, right: null },
    ],
  },
  {
    id: "run",
    entries: [
      { id: "broker", to: "/broker", icon: IconServer2, right: null },
      { id: "clusters", to: "/clusters", icon: IconServerCog, right: null },
      { id: "access", to: "/access", icon: IconKey, right: null },
      { id: "audit", to: "/audit", icon: IconListCheck, right: null },
      { id: "apiReference", to: "/api-reference", icon: IconApi, right: null },
      { id: "settings", to: "/settings", icon: IconSettings, right: null },
    ],
  },
]
