import { Button, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import drawerClasses from "@/components/drawer/drawer.module.css"
import { NeedsRight } from "@/components/forms/lock"
import { QueryBody } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import type { Alert } from "@/lib/api-types"
import { useAcknowledge } from "../api/acknowledge-alert"
import { useAlert } from "../api/get-alert"
import { useDeliveries } from "../api/get-deliveries"
import { useUnacknowledge } from "../api/unacknowledge-alert"
import { measured } from "../measure"
import { AlertState } from "./alert-state"
import classes from "./alerts.module.css"
import { DeliveriesTable } from "./deliveries-table"

/** One alert: its states with their times, who takes care of it, and what was delivered. */
export function AlertDrawer({ id }: { id: string }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const alert = useAlert(id)
  const deliveries = useDeliveries({ alert: id })
  return (
    <DockedDrawer label={t("alerts.one")} onClose={() => change({ alert: undefined })}>
      <div className={drawerClasses.form}>
        <QueryBody query={alert} what={t("alerts.oneFailed")}>
          {(shown) => <Story alert={shown} />}
        </QueryBody>
        <h3>{t("alerts.deliveries")}</h3>
        <QueryBody query={deliveries} what={t("alerts.deliveriesFailed")} isEmpty={(items) => items.length === 0} empty={<p className="micro">{t("alerts.nobodyTold")}</p>}>
          {(items) => <DeliveriesTable deliveries={items} />}
        </QueryBody>
      </div>
    </DockedDrawer>
  )
}

function Story({ alert }: { alert: Alert }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <>
      <h2 className={drawerClasses.title}>{alert.rule.name}</h2>
      <p className={classes.told}>{alert.summary}</p>
      <Actions alert={alert} />
      {alert.acknowledged && (
        <p className={classes.told}>
          {t("alerts.acknowledgedBy", { by: alert.acknowledged.by, time: format.when(alert.acknowledged.at) })} {alert.acknowledged.note}
        </p>
      )}
      <h3>{t("alerts.changes")}</h3>
      <dl className={classes.changes}>
        {alert.changes.map(({ at, state, value }) => (
          <Change key={`${at}${state}`} at={at} state={state} value={value === null ? t("states.unknown") : measured(alert.rule.metric, value, format)} />
        ))}
      </dl>
    </>
  )
}

function Change({ at, state, value }: { at: string; state: Alert["state"]; value: string }) {
  return (
    <>
      <dt>
        <Time at={at} withMs />
      </dt>
      <dd>
        <AlertState state={state} />
      </dd>
      <dd>{value}</dd>
    </>
  )
}

function Actions({ alert }: { alert: Alert }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const [note, setNote] = useState("")
  const acknowledge = useAcknowledge(alert.id)
  const unacknowledge = useUnacknowledge(alert.id)
  const told = { onSuccess: () => toastDone(t("alerts.noted")), onError: (error: unknown) => toastFailed(t("alerts.notNoted"), error) }
  if (alert.state === "resolved") return null
  return (
    <div className={classes.acts}>
      {!alert.acknowledged && <TextInput value={note} placeholder={t("alerts.note")} aria-label={t("alerts.note")} onChange={(event) => setNote(event.currentTarget.value)} />}
      <NeedsRight right="manage">
        {alert.acknowledged ? (
          <Button loading={unacknowledge.isPending} onClick={() => unacknowledge.mutate(undefined, told)}>
            {t("alerts.unacknowledge")}
          </Button>
        ) : (
          <Button loading={acknowledge.isPending} onClick={() => acknowledge.mutate(note, told)}>
            {t("alerts.acknowledge")}
          </Button>
        )}
      </NeedsRight>
      <NeedsRight right="manage">
        <Button onClick={() => change({ new: "silence", rule: alert.rule.name, subject: alert.subject, alert: undefined })}>{t("alerts.silence")}</Button>
      </NeedsRight>
    </div>
  )
}
