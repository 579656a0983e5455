import type { UseQueryResult } from "@tanstack/react-query"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { paths } from "@/config/paths"
import { useAbility } from "@/hooks/use-ability"
import { useCluster } from "@/hooks/use-cluster"
import type { GroupSummary } from "@/lib/api-types"
import { curlOf } from "@/lib/curl"
import { GroupsTable } from "./groups-table"

/** The groups that consume from one topic. */
export function GroupsOfTopic({ topic, query }: { topic: string; query: UseQueryResult<GroupSummary[]> }) {
  const { t } = useTranslation()
  const cluster = useCluster()
  const { isLacking } = useAbility(cluster, "lease")
  const receive = { method: "POST", path: paths.receive(cluster, "demo", topic), body: { max_messages: 1, wait_ms: 20_000 } } as const
  return (
    <QueryPanel
      query={query}
      title={t("nav.groups")}
      note={query.data && String(query.data.length)}
      what={t("groups.failed")}
      isEmpty={(items) => items.length === 0}
      empty={
        <Empty
          title={t("groups.noneOfTopic", { topic })}
          next={t("groups.noneNext")}
          actions={isLacking ? undefined : <CodeBlock language="curl" text={curlOf(receive)} />}
        />
      }
    >
      {(items) => <GroupsTable natural cluster={cluster} rows={items} />}
    </QueryPanel>
  )
}
