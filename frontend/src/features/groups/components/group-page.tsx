import { ActionIcon, Button, Menu } from "@mantine/core"
import { IconDots } from "@tabler/icons-react"
import { Link, useNavigate } from "@tanstack/react-router"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { GroupState } from "@/components/badges/group-state"
import { CurlButton } from "@/components/code/curl-button"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { currentTab, TabBar, type TabItem } from "@/components/layout/tab-bar"
import { Panel } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { paths } from "@/config/paths"
import { usePhone } from "@/hooks/use-media"
import { useUrlState } from "@/hooks/use-url-state"
import type { Group } from "@/lib/api-types"
import { isPaused } from "@/lib/lag"
import { isGone } from "@/lib/problem"
import { useGroup } from "../api/get-group"
import { DeleteGroup } from "./delete-group"
import { GroupClients } from "./group-clients"
import { readersOf } from "./group-columns"
import { GroupConfig } from "./group-config"
import { GroupFigures } from "./group-figures"
import { GroupSubscriptions } from "./group-subscriptions"
import { PauseGroup, useResume } from "./pause-group"

interface GroupPageProps {
  cluster: string
  group: string
  /** The lag of the group, by the feature that draws it. */
  lag: (group: Group) => ReactNode
  /** Its dead letters, by the feature that redrives them. */
  deadLetters: () => ReactNode
  /** What happened to it, by the feature that follows events. */
  activity: () => ReactNode
  /** What stands beside its state, such as a limit that is crossed. */
  mark?: ReactNode
}

export function GroupPage({ cluster, group, lag, deadLetters, activity, mark }: GroupPageProps) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const query = useGroup(cluster, group)
  const isLost = isGone(query.error)
  const known = isLost ? undefined : query.data
  const tabs: TabItem[] = [
    { id: "lag", label: t("groups.tabs.lag") },
    { id: "clients", label: t("groups.tabs.clients"), count: known && readersOf(known) !== null ? String(readersOf(known)) : undefined },
    { id: "subscriptions", label: t("groups.tabs.subscriptions") },
    { id: "dead-letters", label: t("deadLetters.tab") },
    { id: "config", label: t("groups.tabs.config") },
    { id: "activity", label: t("activity.tab") },
  ]
  const tab = currentTab(tabs, state.tab)
  return (
    <Page
      title={group}
      updatedAt={query.dataUpdatedAt}
      badge={known && <Marks group={known} mark={mark} />}
      facts={known && <Facts group={known} />}
      actions={<GroupActions cluster={cluster} group={group} known={known} />}
    >
      <QueryBody query={query} what={t("groups.oneFailed", { group })} skeleton={<Panel><SkeletonBlock height={79} /></Panel>}>
        {(data) => <GroupFigures group={data} />}
      </QueryBody>
      {!isLost && (
        <>
          <TabBar tabs={tabs} />
          {tab === "lag" && known && lag(known)}
          {tab === "clients" && <GroupClients cluster={cluster} group={group} />}
          {tab === "subscriptions" && <GroupSubscriptions cluster={cluster} group={group} />}
          {tab === "dead-letters" && deadLetters()}
          {tab === "activity" && activity()}
          {tab === "config" && known && <GroupConfig cluster={cluster} group={known} />}
        </>
      )}
    </Page>
  )
}

function Marks({ group, mark }: { group: Group; mark: ReactNode }) {
  return (
    <>
      <GroupState group={group} />
      {mark}
    </>
  )
}

function Facts({ group }: { group: Group }) {
  const { t } = useTranslation()
  const facts = [
    group.mode && t(`groups.modes.${group.mode}`),
    group.topics.length > 0 && t("groups.consumes", { topics: group.topics.join(t("list.comma")) }),
  ]
  return <>{facts.filter(Boolean).join(" · ")}</>
}

interface GroupActionsProps {
  cluster: string
  group: string
  known: Group | undefined
}

function GroupActions({ cluster, group, known }: GroupActionsProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const isPhone = usePhone()
  const [, change] = useUrlState()
  const resume = useResume(cluster, group)
  return (
    <>
      {!isPhone && <CurlButton request={{ path: paths.group(cluster, group) }} />}
      {!isPhone && (
        <Button component={Link} to={`/groups/${encodeURIComponent(group)}/offsets`}>
          {t("offsets.open")}
        </Button>
      )}
      <Menu>
        <Menu.Target>
          <ActionIcon aria-label={t("actions.more")}>
            <IconDots size={17} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {isPhone && (
            <Menu.Item component={Link} to={`/groups/${encodeURIComponent(group)}/offsets`}>
              {t("offsets.open")}
            </Menu.Item>
          )}
          {known?.config && (
            <NeedsRight right="manage">
              <Menu.Item onClick={isPaused(known) ? resume : () => change({ ask: "pause" })}>
                {t(isPaused(known) ? "groups.resume" : "groups.pause")}
              </Menu.Item>
            </NeedsRight>
          )}
          {known?.delivery === "partly_paused" && (
            <NeedsRight right="manage">
              <Menu.Item onClick={resume}>{t("groups.resume")}</Menu.Item>
            </NeedsRight>
          )}
          {known?.config && (
            <NeedsRight right="manage">
              <Menu.Item onClick={() => void navigate({ to: "/groups", search: { new: "clone", from: group } })}>{t("groupClone.open")}</Menu.Item>
            </NeedsRight>
          )}
          <NeedsRight right="delete">
            <Menu.Item color="var(--crit)" onClick={() => change({ ask: "delete" })}>
              {t("groups.delete")}
            </Menu.Item>
          </NeedsRight>
        </Menu.Dropdown>
      </Menu>
      <Asked cluster={cluster} group={group} known={known} />
    </>
  )
}

/** The dialog that the address asks for. */
function Asked({ cluster, group, known }: GroupActionsProps) {
  const [{ ask }, change] = useUrlState()
  const close = () => change({ ask: undefined })
  if (ask === "delete") return <DeleteGroup cluster={cluster} group={group} onClose={close} />
  return ask === "pause" && known?.config ? <PauseGroup cluster={cluster} group={known} onClose={close} /> : null
}
