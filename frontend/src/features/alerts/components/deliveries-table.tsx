import { Button, Tooltip } from "@mantine/core"
import { IconCircleCheck, IconCircleX, IconClockPause } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { AlertDelivery } from "@/lib/api-types"
import { useRetryDelivery } from "../api/retry-delivery"
import classes from "./alerts.module.css"

const column = columnsFor<AlertDelivery>()
const LOOKS = {
  waiting: { tone: "warn", icon: IconClockPause },
  delivered: { tone: "ok", icon: IconCircleCheck },
  failed: { tone: "crit", icon: IconCircleX },
} as const

/** What was sent to whom, and what they answered. */
export function DeliveriesTable({ deliveries }: { deliveries: AlertDelivery[] }) {
  const { t } = useTranslation()
  const columns = useMemo(
    () => [
      column("created_at", t("alerts.at"), { width: 84 }, ({ created_at }) => <Time at={created_at} />),
      column("channel", t("alerts.channel"), { isName: true }, ({ channel_name }) => channel_name),
      column("event", t("alerts.event"), { minWidth: 600 }, ({ event }) => t(`alerts.events.${event}`)),
      column("title", t("alerts.title"), { isSecondary: true, minWidth: 860 }, ({ title }) => title),
      column("state", t("alerts.state"), {}, (delivery) => <Outcome delivery={delivery} />),
      column("answer", t("alerts.answered"), { align: "end" }, (delivery) => <Answer delivery={delivery} />),
      column("retry", "", { width: 84 }, (delivery) => delivery.state !== "delivered" && <TryNow id={delivery.id} />),
    ],
    [t],
  )
  return <DataTable natural label={t("alerts.deliveries")} columns={columns} rows={deliveries} rowId={({ id }) => id} />
}

function Outcome({ delivery }: { delivery: AlertDelivery }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  const left = delivery.next_at ? Date.parse(delivery.next_at) - now : 0
  const waits = delivery.state === "waiting" && delivery.attempts.length > 0 && left > 0
  return <Badge {...LOOKS[delivery.state]}>{waits ? t("alerts.again", { time: format.duration(Math.ceil(left / 1000) * 1000) }) : t(`alerts.deliveryStates.${delivery.state}`)}</Badge>
}

function Answer({ delivery: { attempts } }: { delivery: AlertDelivery }) {
  const { t } = useTranslation()
  const format = useFormat()
  const last = attempts.at(-1)
  if (!last) return <span className="micro">{t("alerts.notTried")}</span>
  const words = t("alerts.tried", { status: last.status ?? t("alerts.noAnswer"), time: format.duration(last.took_ms), count: attempts.length })
  return (
    <Tooltip label={<p className={classes.answer}>{last.error ?? last.answer}</p>} multiline maw={420}>
      <span tabIndex={0}>{words}</span>
    </Tooltip>
  )
}

function TryNow({ id }: { id: string }) {
  const { t } = useTranslation()
  const retry = useRetryDelivery(id)
  const send = () =>
    retry.mutate(undefined, { onSuccess: () => toastDone(t("alerts.triedNow")), onError: (error) => toastFailed(t("alerts.notTriedNow"), error) })
  return (
    <NeedsRight right="manage">
      <Button size="xs" loading={retry.isPending} onClick={send}>
        {t("alerts.tryNow")}
      </Button>
    </NeedsRight>
  )
}
