import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Link } from "@tanstack/react-router"
import { CodeBlock } from "@/components/code/code-block"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { ReadFromSlaves, slavesOf } from "@/components/states/read-from-slaves"
import { paths } from "@/config/paths"
import { curlOf } from "@/lib/curl"
import { useBrowseByTime } from "../api/browse-by-time"
import { MissingBrokers, missingOf } from "./missing-brokers"
import { MessagesTable } from "./messages-table"
import classes from "./messages.module.css"

const NEWEST = 30

/** The newest messages of a topic; a row opens it in the search. */
export function TopicMessages({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const newest = useBrowseByTime(cluster, { topic }, NEWEST)
  const rows = newest.data?.pages[0]?.items
  const missing = missingOf(newest.data?.pages)
  const slaves = slavesOf(newest.data?.pages)
  const send = { method: "POST", path: paths.topicMessages(cluster, topic), headers: { "Content-Type": "text/plain", "MQ-Key": "first-1" }, body: "hello, harbour" } as const
  return (
    <QueryPanel
      query={{ ...newest, data: rows, refetch: newest.refetch as never }}
      title={t("messages.newest")}
      note={rows && (rows.length > 0 || missing.length === 0) && t("messages.newestNote", { count: rows.length })}
      actions={
        <Link to="/messages" search={{ mode: "time", topic }}>
          {t("messages.browse")}
        </Link>
      }
      what={t("messages.failed")}
      isEmpty={(items) => items.length === 0}
      empty={
        missing.length > 0 ? (
          <Empty title={t("messages.noneRead")} actions={<MissingBrokers missing={missing} />} />
        ) : slaves.length > 0 ? (
          <Empty title={t("messages.noneIn", { topic })} actions={<ReadFromSlaves slaves={slaves} />} />
        ) : (
          <Empty title={t("messages.noneIn", { topic })} next={t("messages.noneInNext")} actions={<CodeBlock language="curl" text={curlOf(send)} />} />
        )
      }
    >
      {(items) => (
        <>
          {missing.length + slaves.length > 0 && (
            <div className={classes.notes}>
              <MissingBrokers missing={missing} />
              <ReadFromSlaves slaves={slaves} />
            </div>
          )}
          <MessagesTable
            natural
            withTopic={false}
            rows={items}
            onRow={({ message_id }) => void navigate({ to: "/messages", search: { mode: "time", topic, span: "all", open: message_id } })}
          />
        </>
      )}
    </QueryPanel>
  )
}
