import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { PanelFoot } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { Num, Unknown } from "@/components/values/num"
import { Ago } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import type { TopicProducer, TopicProducers as Producers } from "@/lib/api-types"
import { rate } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import { useTopicProducers } from "../api/get-topic-producers"

const column = columnsFor<TopicProducer>()

/** Who sends to a topic, the last to send first, then those that are only connected. */
export function TopicProducers({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const producers = useTopicProducers(cluster, topic)
  const columns = useMemo(
    () => [
      column("client", t("topics.client"), { isName: true }, (producer) => <Client producer={producer} />),
      column("group", t("topics.producerGroup"), { isSecondary: true, minWidth: 480 }, (producer) => producer.group),
      column("last", t("topics.lastSend"), { align: "end" }, (producer) => <LastSend producer={producer} />),
      column("rate", t("topics.sendRate"), { align: "end" }, (producer) => (
        <Num value={producer.rate} reason={producer.unknown_reason ?? t("topics.sendRateUnknown")} write={rate} unit="/s" />
      )),
      column("sent", t("topics.sent"), { align: "end", minWidth: 520 }, ({ messages, unknown_reason }) => (
        <Num value={messages} reason={unknown_reason} />
      )),
      column("address", t("topics.address"), { isSecondary: true, minWidth: 720 }, (producer) => producer.address),
      column("language", t("topics.language"), { isSecondary: true, minWidth: 800 }, (producer) => producer.language),
      column("version", t("topics.version"), { isSecondary: true, minWidth: 880 }, (producer) => producer.version),
    ],
    [t],
  )
  return (
    <QueryPanel
      query={producers}
      title={t("topics.tabs.producers")}
      note={t("topics.producersNote")}
      what={t("topics.producersFailed")}
      isEmpty={({ items }) => items.length === 0}
      empty={<Empty title={t("topics.noProducer")} next={t("topics.noProducerNext")} />}
    >
      {(found) => (
        <>
          <DataTable
            natural
            label={t("topics.tabs.producers")}
            columns={columns}
            rows={found.items}
            rowId={({ client_id, group, address }) => `${client_id ?? address} ${group}`}
          />
          <Foot found={found} />
        </>
      )}
    </QueryPanel>
  )
}

function Client({ producer }: { producer: TopicProducer }) {
  const { t } = useTranslation()
  if (producer.is_gateway)
    return (
      <span title={producer.client_ids.join("\n")}>
        {t("topics.gateway")} <span className="micro">{t("topics.gatewayProcesses", { count: producer.client_ids.length })}</span>
      </span>
    )
  if (producer.client_id === null) return <span className="micro">{t("topics.noHeartbeat")}</span>
  return (
    <>
      {producer.client_id} {!producer.is_connected && <span className="micro">{t("topics.left")}</span>}
    </>
  )
}

function LastSend({ producer }: { producer: TopicProducer }) {
  const { t } = useTranslation()
  if (producer.sends === "none") return <span className="micro">{t("topics.neverSent")}</span>
  return producer.last_send_at === null ? <Unknown reason={producer.unknown_reason} /> : <Ago at={producer.last_send_at} />
}

function Foot({ found }: { found: Producers }) {
  const { t } = useTranslation()
  const format = useFormat()
  const unknown = found.items.find(({ unknown_reason }) => unknown_reason !== null)?.unknown_reason
  return (
    <PanelFoot>
      {unknown && <span>{t("topics.producersUnknown", { reason: reasonIn(t, unknown) })}</span>}
      {found.counted_since !== null && <span>{t("topics.producersSince", { time: format.when(found.counted_since) })}</span>}{" "}
      {found.items.some(({ is_gateway }) => is_gateway) && <span>{t("topics.gatewayProducer")}</span>}
    </PanelFoot>
  )
}
