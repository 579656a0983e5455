import { BrokerQueues } from "./broker-queues"
import { ActionIcon, Button, Menu } from "@mantine/core"
import { IconCopyPlus, IconDots, IconMessage2Search, IconPlayerPause, IconPlayerTrackNext, IconSend } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { currentTab, TabBar, type TabItem } from "@/components/layout/tab-bar"
import { Panel } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { paths } from "@/config/paths"
import { useAbility } from "@/hooks/use-ability"
import { useUrlState } from "@/hooks/use-url-state"
import type { Topic } from "@/lib/api-types"
import { isGone } from "@/lib/problem"
import { useTopic } from "../api/get-topic"
import { DeleteTopic } from "./delete-topic"
import { ProduceForm } from "./produce-form"
import { PauseTopic, useResume } from "./pause-topic"
import { PurgeTopic } from "./purge-topic"
import { TopicConfig } from "./topic-config"
import { TopicFigures } from "./topic-figures"
import { TopicNote } from "./topic-note"
import { TopicProducers } from "./topic-producers"
import { TopicSample } from "./topic-sample"
import { TopicStats } from "./topic-stats"
import { TopicQueues } from "./topic-queues"

interface TopicPageProps {
  cluster: string
  topic: string
  /** Panels of other features. */
  messages: ReactNode
  groups: ReactNode
  activity: ReactNode
}

export function TopicPage({ cluster, topic, messages, groups, activity }: TopicPageProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const query = useTopic(cluster, topic)
  const isLost = isGone(query.error)
  const known = isLost ? undefined : query.data
  const tabs: TabItem[] = [
    { id: "messages", label: t("topics.tabs.messages") },
    { id: "queues", label: t("topics.tabs.queues"), count: known && String(known.read_queues * Math.max(1, known.brokers.length)) },
    { id: "groups", label: t("topics.tabs.groups"), count: known?.groups === null ? undefined : known && String(known.groups) },
    { id: "producers", label: t("topics.tabs.producers") },
    { id: "stats", label: t("topicStats.tab") },
    { id: "sample", label: t("sample.tab") },
    { id: "produce", label: t("topics.tabs.produce") },
    { id: "config", label: t("topics.tabs.config") },
    { id: "note", label: t("topicNote.tab") },
    { id: "activity", label: t("activity.tab") },
  ]
  const tab = currentTab(tabs, state.tab)
  return (
    <Page
      title={topic}
      updatedAt={query.dataUpdatedAt}
      staleAfterMs={30_000}
      facts={known && <Facts topic={known} />}
      actions={<TopicActions cluster={cluster} topic={topic} permission={known?.permission} onProduce={() => change({ tab: "produce" })} />}
    >
      <QueryBody query={query} what={t("topics.oneFailed", { topic })} skeleton={<Panel><SkeletonBlock height={79} /></Panel>}>
        {(data) => <TopicFigures topic={data} />}
      </QueryBody>
      {!isLost && (
        <>
          <TabBar tabs={tabs} />
          {tab === "messages" && messages}
          {tab === "groups" && groups}
          {tab === "activity" && activity}
          {OWN[tab]?.({ cluster, topic })}
          {tab === "config" && known && <TopicConfig key={known.name} cluster={cluster} topic={known} />}
        </>
      )}
    </Page>
  )
}

function Facts({ topic: { kind, brokers, message_type: declared } }: { topic: Topic }) {
  const { t } = useTranslation()
  const facts = t("topics.oneFacts", { kind: t(`topics.kinds.${kind}`), brokers: brokers.join(t("list.comma")) })
  return <>{declared === null ? facts : `${facts} · ${t("topics.typeFact", { type: t(`topics.messageTypes.${declared}`) })}`}</>
}

type OfTopic = Pick<TopicPageProps, "cluster" | "topic">

/** The tabs that need only the names. */
const OWN: Partial<Record<string, (of: OfTopic) => ReactNode>> = {
  queues: (of) => (
    <>
      <TopicQueues {...of} />
      <BrokerQueues {...of} />
    </>
  ),
  producers: (of) => <TopicProducers {...of} />,
  stats: (of) => <TopicStats {...of} />,
  note: (of) => <TopicNote {...of} />,
  sample: (of) => <TopicSample {...of} />,
  produce: (of) => <ProduceForm {...of} />,
}

interface TopicActionsProps {
  cluster: string
  topic: string
  permission: Topic["permission"] | undefined
  onProduce: () => void
}

function TopicActions({ cluster, topic, permission, onProduce }: TopicActionsProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const [{ ask: asked }, change] = useUrlState()
  const ask = (what: "delete" | "pause" | "purge" | undefined) => change({ ask: what })
  const close = () => ask(undefined)
  const resume = useResume(cluster, topic)
  const { isLacking: cannotPurge } = useAbility(cluster, "purge")
  return (
    <>
      <CurlButton request={{ path: paths.topic(cluster, topic) }} />
      <NeedsRight right="produce">
        <Button leftSection={<IconSend size={15} stroke={1.6} />} onClick={onProduce}>
          {t("topics.produce")}
        </Button>
      </NeedsRight>
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={t("actions.more")}>
            <IconDots size={17} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={<IconMessage2Search size={15} stroke={1.6} />}
            onClick={() => void navigate({ to: "/messages", search: { topic } })}
          >
            {t("topics.search")}
          </Menu.Item>
          <NeedsRight right="jobs">
            <Menu.Item
              leftSection={<IconPlayerTrackNext size={15} stroke={1.6} />}
              onClick={() => void navigate({ to: "/jobs/new/replay", search: { topic } })}
            >
              {t("topics.replay")}
            </Menu.Item>
          </NeedsRight>
          <NeedsRight right="manage">
            <Menu.Item
              leftSection={<IconCopyPlus size={15} stroke={1.6} />}
              onClick={() => void navigate({ to: "/topics", search: { new: "topic", like: topic } })}
            >
              {t("bulkTopics.clone")}
            </Menu.Item>
          </NeedsRight>
          <NeedsRight right="manage">
            <Menu.Item
              leftSection={<IconPlayerPause size={15} stroke={1.6} />}
              disabled={permission === undefined}
              onClick={() => (permission === "rw" ? ask("pause") : resume())}
            >
              {permission === "rw" || permission === undefined ? t("bulkTopics.pause") : t("bulkTopics.resume")}
            </Menu.Item>
          </NeedsRight>
          <Menu.Divider />
          <NeedsRight right="delete">
            <Menu.Item color="var(--crit)" disabled={cannotPurge} title={cannotPurge ? t("abilities.lacking.purge") : ""} onClick={() => ask("purge")}>
              {t("purge.menu")}
            </Menu.Item>
          </NeedsRight>
          <NeedsRight right="delete">
            <Menu.Item color="var(--crit)" onClick={() => ask("delete")}>
              {t("topics.delete")}
            </Menu.Item>
          </NeedsRight>
        </Menu.Dropdown>
      </Menu>
      {asked === "delete" && <DeleteTopic cluster={cluster} topic={topic} onClose={close} />}
      {asked === "purge" && !cannotPurge && <PurgeTopic cluster={cluster} topic={topic} onClose={close} />}
      {asked === "pause" && <PauseTopic cluster={cluster} topic={topic} onClose={close} />}
    </>
  )
}
