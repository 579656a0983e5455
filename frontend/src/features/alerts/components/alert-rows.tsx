import { useTranslation } from "react-i18next"
import { PhoneRail, PhoneRows } from "@/components/data-table/phone-rows"
import { AlertState } from "./alert-state"
import classes from "./alerts.module.css"
import { type AlertsTableProps, Measured, Since, ValueNow, valueNow } from "./alerts-table"
import { LimitRail } from "./limit-rail"

/** For a phone: whom it concerns and how far over the limit, then which rule says so. */
export function AlertRows({ alerts, onAlert }: AlertsTableProps) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("nav.alerts")} rows={alerts.map((alert) => ({ name: alert.id, alert }))}>
      {({ alert }) => (
        <>
          <button type="button" className={classes.open} onClick={() => onAlert(alert)}>
            {alert.subject}
          </button>
          <b>
            <ValueNow alert={alert} />
          </b>
          <small>
            {alert.rule.name} · {alert.cluster}
          </small>
          <small>
            {t("alerts.limit")} <Measured alert={alert} value={alert.rule.limit} />
          </small>
          <span>
            <AlertState state={alert.shown} />
          </span>
          <small>
            <Since alert={alert} />
          </small>
          <PhoneRail>
            <LimitRail value={valueNow(alert)} limit={alert.rule.limit} state={alert.shown} />
          </PhoneRail>
        </>
      )}
    </PhoneRows>
  )
}
