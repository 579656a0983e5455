import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight"
import { IconHash, IconSearch, IconStack2, IconUsersGroup } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { useFoundGroups } from "@/features/groups/api/find-groups"
import { useFoundTopics } from "@/features/topics/api/find-topics"
import { useCluster } from "@/hooks/use-cluster"
import { useDebounced } from "@/hooks/use-debounced"
import { count } from "@/lib/format"
import { navigation } from "./navigation"

const [store, handlers] = createSpotlight()
export const palette = handlers

const MESSAGE_ID = /^[0-9A-Fa-f]{32,40}$/

/** Ctrl/⌘ K: go to a page, a topic, a group, or to the message whose id is pasted. */
export function Palette() {
  const { t } = useTranslation()
  const [query, setQuery] = useState("")
  const pages = usePageActions()
  const found = useFoundActions(query.trim())
  return (
    <Spotlight
      store={store}
      actions={[...found, ...pages]}
      query={query}
      onQueryChange={setQuery}
      shortcut={["mod + K"]}
      highlightQuery
      limit={12}
      size={560}
      radius={8}
      nothingFound={t("palette.nothing")}
      searchProps={{ leftSection: <IconSearch size={16} stroke={1.6} />, placeholder: t("palette.open") }}
    />
  )
}

function usePageActions(): SpotlightActionData[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return navigation
    .flatMap(({ entries }) => entries)
    .map(({ id, to, icon: PageIcon }) => ({
      id: `page-${id}`,
      label: t(`nav.${id}`),
      rightSection: <small>{t("palette.page")}</small>,
      leftSection: <PageIcon size={16} stroke={1.6} />,
      onClick: () => void navigate({ to }),
    }))
}

function useFoundActions(query: string): SpotlightActionData[] {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const cluster = useCluster()
  const still = useDebounced(query, 150)
  const topics = useFoundTopics(cluster, still).data ?? []
  const groups = useFoundGroups(cluster, still).data ?? []
  const message: SpotlightActionData[] = MESSAGE_ID.test(query)
    ? [
        {
          id: "message",
          label: query,
          rightSection: <small>{t("palette.message")}</small>,
          leftSection: <IconHash size={16} stroke={1.6} />,
          onClick: () => void navigate({ to: "/messages", search: { mode: "id", id: query } }),
        },
      ]
    : []
  return [
    ...message,
    ...groups.map(({ name, lag }) => ({
      id: `group-${name}`,
      label: name,
      leftSection: <IconUsersGroup size={16} stroke={1.6} />,
      rightSection: <small>{lag === null ? t("palette.group") : t("palette.lag", { n: count(lag) })}</small>,
      onClick: () => void navigate({ to: "/groups/$group", params: { group: name } }),
    })),
    ...topics.map(({ name, read_queues }) => ({
      id: `topic-${name}`,
      label: name,
      leftSection: <IconStack2 size={16} stroke={1.6} />,
      rightSection: <small>{t("palette.queues", { count: read_queues })}</small>,
      onClick: () => void navigate({ to: "/topics/$topic", params: { topic: name } }),
    })),
  ]
}
