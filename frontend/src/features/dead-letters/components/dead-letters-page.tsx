import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { RefreshButton } from "@/components/forms/refresh-button"
import { Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import type { DeadLetterGroups } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useDeadLetterGroups } from "../api/get-groups"
import { DeadLetterFigures } from "./dead-letter-figures"
import { DeadLettersView } from "./dead-letters-view"

interface DeadLettersPageProps {
  cluster: string
  topics: readonly string[]
  /** A whole message beside the page, by the feature that shows messages. */
  drawer: (topic: string, id: string, onClose: () => void) => ReactNode
}

/** Whether no group is listed and some may have dead letters all the same. */
const isUnknown = ({ items, messages }: DeadLetterGroups): boolean => items.length === 0 && messages === null

export function DeadLettersPage({ cluster, topics, drawer }: DeadLettersPageProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const query = useDeadLetterGroups(cluster)
  const found = query.data
  const { open, of } = state
  return (
    <DockedPage drawer={open && of && drawer(of, open, () => change({ open: undefined, of: undefined }))}>
      <Page
        title={t("nav.deadLetters")}
        updatedAt={query.dataUpdatedAt}
        staleAfterMs={45_000}
        facts={found && !isUnknown(found) && t("deadLetters.facts", { count: found.total, groups: found.groups === null ? "—" : count(found.groups) })}
        actions={
          <>
            <CurlButton request={{ path: paths.deadLetters(cluster) }} />
            <RefreshButton label={t("actions.refresh")} />
          </>
        }
      >
        <QueryBody
          query={query}
          what={t("deadLetters.groupsFailed")}
          skeleton={
            <Panel>
              <SkeletonBlock height={240} />
            </Panel>
          }
        >
          {(data) => (
            <>
              <DeadLetterFigures cluster={cluster} found={data} />
              {data.items.length === 0 ? (
                <Panel>
                  <Empty title={t(isUnknown(data) ? "deadLetters.unknown" : "deadLetters.none")} next={t("deadLetters.noneNext")} />
                </Panel>
              ) : (
                <DeadLettersView cluster={cluster} groups={data.items} topics={topics} onOpen={({ topic, message_id }) => change({ open: message_id, of: topic })} />
              )}
            </>
          )}
        </QueryBody>
      </Page>
    </DockedPage>
  )
}
