import { Button, TextInput } from "@mantine/core"
import { Link } from "@tanstack/react-router"
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
import { useAlertRules } from "../api/get-rules"
import { useUnacknowledge } from "../api/unacknowledge-alert"
import { adviceOn, isOfControllers } from "../advice"
import { isYesOrNo, measured } from "../measure"
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
      <Told alert={alert} />
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

/** How it stands, in the language of the reader; and the title of the rule where somebody wrote one. */
function Told({ alert }: { alert: Alert }) {
  const { t } = useTranslation()
  const format = useFormat()
  const hasTitle = useAlertRules().data?.some(({ id, template }) => id === alert.rule.id && template !== "")
  const { rule, shown, subject, cluster, value } = alert
  const words = {
    metric: t(`alerts.metrics.${rule.metric}`),
    subject,
    cluster,
    value: value === null ? t("alertStory.unknownValue") : measured(rule.metric, value, format),
    limit: measured(rule.metric, rule.limit, format),
    by: alert.acknowledged?.by ?? "",
  }
  return (
    <>
      <p className={classes.told}>{t(shown === "firing" ? firingWords(rule.metric) : `alertStory.${shown}`, words)}</p>
      {shown !== "resolved" && <Advice alert={alert} />}
      {hasTitle && <p className={classes.told}>{alert.summary}</p>}
    </>
  )
}

const firingWords = (metric: Alert["rule"]["metric"]) => (metric === "broker_silent" ? "alertStory.silent" : isYesOrNo(metric) ? "alertStory.isSo" : "alertStory.firing")

/** What to do, and the page where one does it. */
function Advice({ alert: { rule, subject } }: { alert: Alert }) {
  const { t } = useTranslation()
  const advice = adviceOn(rule.metric)
  if (!advice) return null
  return (
    <p className={classes.told}>
      {t(`alertAdvice.${advice}`, { subject })}{" "}
      {isOfControllers(rule.metric) ? (
        <Link to="/broker">{t("alertAdvice.openCluster")}</Link>
      ) : (
        <Link to="/broker/$broker" params={{ broker: subject }}>
          {t("replicas.open", { broker: subject })}
        </Link>
      )}
    </p>
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
  const taken = { onSuccess: () => toastDone(t("alertStory.taken")), onError: (error: unknown) => toastFailed(t("alertStory.notTaken"), error) }
  const takenBack = { onSuccess: () => toastDone(t("alertStory.takenBack")), onError: (error: unknown) => toastFailed(t("alertStory.notTakenBack"), error) }
  if (alert.state === "resolved") return null
  return (
    <div className={classes.acts}>
      {!alert.acknowledged && <TextInput value={note} placeholder={t("alerts.note")} aria-label={t("alerts.note")} onChange={(event) => setNote(event.currentTarget.value)} />}
      <NeedsRight right="manage">
        {alert.acknowledged ? (
          <Button loading={unacknowledge.isPending} onClick={() => unacknowledge.mutate(undefined, takenBack)}>
            {t("alerts.unacknowledge")}
          </Button>
        ) : (
          <Button loading={acknowledge.isPending} onClick={() => acknowledge.mutate(note, taken)}>
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
