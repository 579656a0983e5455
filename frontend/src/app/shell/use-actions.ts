import { type Icon, IconBell, IconBolt, IconCopyPlus, IconDeviceTv, IconEraser, IconFileExport, IconKey, IconMailForward, IconPlayerPause, IconPlayerTrackNext, IconScale, IconServerCog, IconSend, IconStack2, IconTrash, IconUserPlus, IconVolumeOff, IconCalendarTime } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { type Right, useMe } from "@/hooks/use-rights"

/** Something to do, as a line of the palette. */
export interface Action {
  id: string
  label: string
  icon: Icon
  /** The right that is missing, as a sentence; the line stays, so that one learns that the action exists. */
  missing?: string
  go: () => void
}

const ACTIONS = [
  { id: "wallboard", to: "/live/wallboard", search: {}, right: null, icon: IconDeviceTv },
  { id: "topic", to: "/topics", search: { new: "topic" }, right: "manage", icon: IconStack2 },
  { id: "replay", to: "/jobs/new/replay", search: {}, right: "jobs", icon: IconPlayerTrackNext },
  { id: "reconcile", to: "/jobs/new/reconcile", search: {}, right: "jobs", icon: IconScale },
  { id: "export", to: "/jobs/new/export", search: {}, right: "jobs", icon: IconFileExport },
  { id: "redrive", to: "/jobs/new/redrive", search: {}, right: "redrive", icon: IconMailForward },
  { id: "schedule", to: "/schedules", search: { new: "replay" }, right: "jobs", icon: IconCalendarTime },
  { id: "rule", to: "/alerts", search: { new: "rule" }, right: "manage", icon: IconBell },
  { id: "silence", to: "/alerts", search: { new: "silence" }, right: "manage", icon: IconVolumeOff },
  { id: "cluster", to: "/clusters", search: { new: "cluster" }, right: "admin", icon: IconServerCog },
  { id: "token", to: "/access", search: { new: "token" }, right: "read", icon: IconKey },
  { id: "user", to: "/access", search: { new: "user" }, right: "admin", icon: IconUserPlus },
] as const

/** What can be done from anywhere. */
export function useActions(): Action[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const missing = useMissing()
  return ACTIONS.map(({ id, to, search, right, icon }) => ({
    id: `action-${id}`,
    label: t(`palette.actions.${id}`),
    icon,
    ...missing(right),
    go: () => void navigate({ to, search: (known: object) => ({ ...known, ...search }) }),
  }))
}

const ON_A_TOPIC = [
  { id: "produce", search: { tab: "produce" }, right: "produce", icon: IconSend },
  { id: "pauseTopic", search: { ask: "pause" }, right: "manage", icon: IconPlayerPause },
  { id: "purge", search: { ask: "purge" }, right: "delete", icon: IconEraser },
  { id: "deleteTopic", search: { ask: "delete" }, right: "delete", icon: IconTrash },
] as const

const ON_A_GROUP = [
  { id: "offsets", to: "/groups/$group/offsets", search: {}, right: "offsets", icon: IconBolt },
  { id: "pauseGroup", to: "/groups/$group", search: { ask: "pause" }, right: "manage", icon: IconPlayerPause },
  { id: "clone", to: "/groups", search: { new: "clone" }, right: "manage", icon: IconCopyPlus },
  { id: "deleteGroup", to: "/groups/$group", search: { ask: "delete" }, right: "delete", icon: IconTrash },
] as const

/** What can be done with a topic and a group. */
export function useActionsOn(topic: string | undefined, group: string | undefined): Action[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const missing = useMissing()
  const ofTopic = ON_A_TOPIC.map(({ id, search, right, icon }) => ({
    id,
    label: t(`palette.actions.${id}`, { topic }),
    icon,
    ...missing(right),
    go: () => void navigate({ to: "/topics/$topic", params: { topic: topic ?? "" }, search }),
  }))
  const ofGroup = ON_A_GROUP.map(({ id, to, search, right, icon }) => ({
    id,
    label: t(`palette.actions.${id}`, { group }),
    icon,
    ...missing(right),
    go: () => void navigate({ to, params: { group: group ?? "" }, search: id === "clone" ? { ...search, from: group } : search }),
  }))
  return [...(topic === undefined ? [] : ofTopic), ...(group === undefined ? [] : ofGroup)]
}

function useMissing(): (right: Right | null) => { missing?: string } {
  const { t } = useTranslation()
  const rights = useMe()?.rights ?? []
  return (right) => (right === null || rights.includes(right) ? {} : { missing: t("rights.missing", { right: t(`rights.${right}`) }) })
}
