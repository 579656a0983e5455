import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { PanelFoot } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import type { TopicProducer } from "@/lib/api-types"
import { useTopicProducers } from "../api/get-topic-producers"

/** The group in which the gateway sends for those who send over HTTP. */
const GATEWAY_GROUP = "GANTRY_PRODUCER"

const column = columnsFor<TopicProducer>()

export function TopicProducers({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const producers = useTopicProducers(cluster, topic)
  const columns = useMemo(
    () => [
      column("client", t("topics.client"), { isName: true }, (producer) => producer.client_id),
      column("group", t("topics.producerGroup"), { isSecondary: true }, (producer) => producer.group),
      column("address", t("topics.address"), { isSecondary: true }, (producer) => producer.address),
      column("language", t("topics.language"), { isSecondary: true, minWidth: 560 }, (producer) => producer.language),
      column("version", t("topics.version"), { isSecondary: true, minWidth: 640 }, (producer) => producer.version),
    ],
    [t],
  )
  return (
    <QueryPanel
      query={producers}
      title={t("topics.tabs.producers")}
      note={t("topics.producersNote")}
      what={t("topics.producersFailed")}
      isEmpty={(items) => items.length === 0}
      empty={<Empty title={t("topics.noProducer")} next={t("topics.noProducerNext")} />}
    >
      {(items) => (
        <>
          <DataTable
            natural
            label={t("topics.tabs.producers")}
            columns={columns}
            rows={items}
            rowId={({ client_id, group }) => `${client_id} ${group}`}
          />
          {items.some(({ group }) => group === GATEWAY_GROUP) && <PanelFoot>{t("topics.gatewayProducer", { group: GATEWAY_GROUP })}</PanelFoot>}
        </>
      )}
    </QueryPanel>
  )
}
