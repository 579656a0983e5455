import { Button } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Time } from "@/components/values/time"
import type { Silence } from "@/lib/api-types"
import { useEndSilence } from "../api/end-silence"
import { useSilences } from "../api/get-silences"

const column = columnsFor<Silence>()

export function SilencesPanel() {
  const { t } = useTranslation()
  const silences = useSilences()
  const columns = useMemo(
    () => [
      column("state", t("alerts.state"), { width: 110 }, ({ state }) => t(`alerts.silenceStates.${state}`)),
      column("rule", t("alerts.rule"), { isName: true }, ({ rule }) => rule),
      column("subject", t("alerts.subject"), {}, ({ cluster, subject }) => `${cluster} / ${subject}`),
      column("ends_at", t("alerts.ends"), { align: "end" }, ({ ends_at }) => <Time at={ends_at} />),
      column("reason", t("alerts.reason"), { isSecondary: true, minWidth: 620 }, ({ reason }) => reason),
      column("by", t("alerts.by"), { isSecondary: true, minWidth: 760 }, ({ created_by }) => created_by ?? "—"),
      column("end", "", { width: 90 }, ({ id, state }) => state !== "ended" && <End id={id} />),
    ],
    [t],
  )
  return (
    <QueryPanel query={silences} what={t("alerts.silencesFailed")} isEmpty={(items) => items.length === 0} empty={<Empty title={t("alerts.noSilences")} next={t("alerts.silenceWords")} />}>
      {(items) => <DataTable natural label={t("alerts.tabs.silences")} columns={columns} rows={items} rowId={({ id }) => id} />}
    </QueryPanel>
  )
}

function End({ id }: { id: string }) {
  const { t } = useTranslation()
  const end = useEndSilence(id)
  const send = () => end.mutate(undefined, { onSuccess: () => toastDone(t("alerts.silenceEnded")), onError: (error) => toastFailed(t("alerts.silenceNotEnded"), error) })
  return (
    <NeedsRight right="manage">
      <Button size="xs" loading={end.isPending} onClick={send}>
        {t("alerts.endNow")}
      </Button>
    </NeedsRight>
  )
}
