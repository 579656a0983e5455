import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { SkeletonBlock } from "@/components/states/skeleton-rows"
import { useDeadLettersOf } from "../api/get-groups"
import { DeadLetterFigures } from "./dead-letter-figures"
import { DeadLettersView } from "./dead-letters-view"

interface GroupDeadLettersProps {
  cluster: string
  group: string
  topics: readonly string[]
}

/** The dead letters of one group, on its page; a message opens on the page of messages. */
export function GroupDeadLetters({ cluster, group, topics }: GroupDeadLettersProps) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  return (
    <QueryBody
      query={useDeadLettersOf(cluster, group)}
      what={t("deadLetters.groupsFailed")}
      skeleton={
        <Panel>
          <SkeletonBlock height={240} />
        </Panel>
      }
      isEmpty={({ messages }) => messages === 0}
      empty={
        <Panel>
          <Empty title={t("deadLetters.noneOf", { group })} next={t("deadLetters.noneNext")} />
        </Panel>
      }
    >
      {(found) => (
        <>
          <DeadLetterFigures cluster={cluster} found={{ items: [found], messages: found.messages }} />
          <DeadLettersView
            cluster={cluster}
            groups={[found]}
            group={group}
            topics={topics}
            onOpen={({ topic, message_id: id }) => void navigate({ to: "/messages", search: { mode: "id", topic, id, open: id } })}
          />
        </>
      )}
    </QueryBody>
  )
}
