import { useTranslation } from "react-i18next"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { useDeliveries } from "../api/get-deliveries"
import { DeliveriesTable } from "./deliveries-table"

/** The delivery log, the newest first. */
export function DeliveriesPanel() {
  const { t } = useTranslation()
  const deliveries = useDeliveries({})
  return (
    <QueryPanel query={deliveries} what={t("alerts.deliveriesFailed")} isEmpty={(items) => items.length === 0} empty={<Empty title={t("alerts.noDeliveries")} next={t("alerts.noDeliveriesNext")} />}>
      {(items) => <DeliveriesTable deliveries={items} />}
    </QueryPanel>
  )
}
