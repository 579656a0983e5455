import "@mantine/spotlight/styles.layer.css"
import { Modal } from "@mantine/core"
import { createSpotlight, Spotlight } from "@mantine/spotlight"
import { type Icon, IconHash, IconSearch, IconStack2, IconStarFilled, IconUsersGroup } from "@tabler/icons-react"
import { useLocation, useNavigate } from "@tanstack/react-router"
import { useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useFoundGroups } from "@/features/groups/api/find-groups"
import { useFoundTopics } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { useDebounced } from "@/hooks/use-debounced"
import { bestFirst } from "@/lib/best-first"
import { count } from "@/lib/format"
import { pinnedGroups, pinnedTopics } from "@/lib/preferences"
import { useStore } from "@/lib/store"
import { navigation } from "./navigation"
import classes from "./palette.module.css"
import { useActions, useActionsOn } from "./use-actions"

const [store, handlers] = createSpotlight()

/** A line of the palette: where it leads, and one live fact, or what is missing to go there. */
interface Entry {
  id: string
  label: string
  kind: string
  fact?: string
  icon: Icon
  missing?: string
  go: () => void
}

const MESSAGE_ID = /^[0-9A-Fa-f]{32,40}$/
const MOST = 12
// The pages are still there below them.
const MOST_PINS = 6

/** Go to a page, a topic, a group, the search for the message whose id is pasted, or to where something is done. Opens each time it is asked. */
export function Palette({ asked }: { asked: number }) {
  const { t } = useTranslation()
  const [query, setQuery] = useState("")
  const words = query.trim()
  const { found, isSettled, topic, group } = useFound(words)
  const kind = t("palette.action")
  const here = useHere()
  const actions = [...useActions(), ...useActionsOn(topic ?? here.topic, group ?? here.group)].map((action): Entry => ({ ...action, kind }))
  const pins = usePins()
  const entries = bestFirst([...found, ...(words ? [] : pins), ...usePages(), ...(words ? actions : [])], words, ({ label }) => label)
  const lines = [...useMessage(words), ...entries].slice(0, MOST)
  useEffect(() => handlers.open(), [asked])
  const enter = useEnter(words, isSettled, lines[0])
  return (
    <Spotlight.Root
      store={store}
      query={query}
      onQueryChange={setQuery}
      shortcut={null}
      size={560}
      radius={8}
      yOffset={96}
      centered={false}
      overlayProps={{ backgroundOpacity: 0.28, blur: 0 }}
      transitionProps={{ duration: 120, transition: "fade" }}
      classNames={{ content: classes.content ?? "" }}
    >
      <Modal.Title className="sr-only">{t("palette.open")}</Modal.Title>
      <Spotlight.Search
        placeholder={t("palette.open")}
        leftSection={<IconSearch size={16} stroke={1.6} />}
        rightSection={<kbd className={classes.esc}>Esc</kbd>}
        rightSectionWidth={54}
        onKeyDown={(event) => {
          // Without a choice by arrows, Enter goes to the first line.
          if (event.key === "Enter" && !event.nativeEvent.isComposing && store.getState().selected < 0) enter()
        }}
        classNames={{ input: classes.search ?? "" }}
      />
      <Spotlight.ActionsList classNames={{ actionsList: classes.list ?? "" }}>
        {lines.map((entry) => (
          <Line key={entry.id} entry={entry} />
        ))}
        {lines.length === 0 && <Spotlight.Empty className={classes.empty ?? ""}>{t("palette.nothing")}</Spotlight.Empty>}
      </Spotlight.ActionsList>
      <div className={classes.foot}>{t("palette.foot")}</div>
    </Spotlight.Root>
  )
}

function Line({ entry: { label, kind, fact, icon: LineIcon, missing, go } }: { entry: Entry }) {
  return (
    <Spotlight.Action
      label={label}
      onClick={go}
      disabled={missing !== undefined}
      highlightQuery
      highlightColor="transparent"
      leftSection={<LineIcon size={16} stroke={1.6} />}
      rightSection={<small>{missing ?? fact ?? kind}</small>}
      classNames={{ action: classes.action ?? "", actionLabel: classes.label ?? "" }}
    />
  )
}

/** The topic or group whose page is open: what is typed may be what to do with it. */
function useHere(): { topic?: string; group?: string } {
  const [, kind, name] = /^\/(topic|group)s\/([^/]+)/.exec(useLocation().pathname) ?? []
  return kind && name ? { [kind]: decodeURIComponent(name) } : {}
}

function usePages(): Entry[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return navigation
    .flatMap(({ entries }) => entries)
    .map(({ id, to, icon }) => ({ id: `page-${id}`, label: t(`nav.${id}`), kind: t("palette.page"), icon, go: () => void navigate({ to }) }))
}

/** What is pinned in this browser, groups first: it is looked at the most. */
function usePins(): Entry[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const groups = useStore(pinnedGroups).map((group): Entry => ({
    id: `pin-group-${group}`,
    label: group,
    kind: t("palette.pinnedGroup"),
    icon: IconStarFilled,
    go: () => void navigate({ to: "/groups/$group", params: { group } }),
  }))
  const topics = useStore(pinnedTopics).map((topic): Entry => ({
    id: `pin-topic-${topic}`,
    label: topic,
    kind: t("palette.pinnedTopic"),
    icon: IconStarFilled,
    go: () => void navigate({ to: "/topics/$topic", params: { topic } }),
  }))
  return [...groups, ...topics].slice(0, MOST_PINS)
}

function useMessage(words: string): Entry[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  if (!MESSAGE_ID.test(words)) return []
  const go = () => void navigate({ to: "/messages", search: { mode: "id", id: words } })
  return [{ id: "message", label: words, kind: t("palette.message"), icon: IconHash, go }]
}

/** Goes to the best line, once it is known for the words as they were when Enter was pressed. */
function useEnter(words: string, isSettled: boolean, best: Entry | undefined): () => void {
  const wanted = useRef<string | null>(null)
  const goWhenDue = () => {
    if (wanted.current !== words || !isSettled || !best || best.missing !== undefined) return
    wanted.current = null
    best.go()
    handlers.close()
  }
  useEffect(goWhenDue)
  return () => {
    wanted.current = words
    goWhenDue()
  }
}

interface Found {
  found: Entry[]
  /** Whether it is for these words already. */
  isSettled: boolean
  /** The best of each kind. */
  topic: string | undefined
  group: string | undefined
}

/** What has the words in its name. */
function useFound(words: string): Found {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const cluster = useCluster()
  const still = useDebounced(words, 150)
  const topics = useFoundTopics(cluster, still)
  const groups = useFoundGroups(cluster, still)
  const found = [
    ...(groups.data ?? []).map(({ name, lag }) => ({
      id: `group-${name}`,
      label: name,
      kind: t("palette.group"),
      ...(lag !== null && { fact: t("palette.lag", { n: count(lag) }) }),
      icon: IconUsersGroup,
      go: () => void navigate({ to: "/groups/$group", params: { group: name } }),
    })),
    ...(topics.data ?? []).map(({ name, read_queues }) => ({
      id: `topic-${name}`,
      label: name,
      kind: t("palette.topic"),
      fact: t("palette.queues", { count: read_queues }),
      icon: IconStack2,
      go: () => void navigate({ to: "/topics/$topic", params: { topic: name } }),
    })),
  ]
  const isSettled = words === still && !topics.isLoading && !groups.isLoading
  return { found, isSettled, topic: topics.data?.[0]?.name, group: groups.data?.[0]?.name }
}
