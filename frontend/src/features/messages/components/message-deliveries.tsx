import { IconCircleCheck, IconClockPause } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import { QueryBody } from "@/components/states/query-panel"
import type { Message, MessageDelivery } from "@/lib/api-types"
import { count } from "@/lib/format"
import { useDeliveries } from "../api/get-deliveries"
import classes from "./messages.module.css"
import { SectionHead } from "./section-head"

/** Group by group, whether the message was consumed. */
export function MessageDeliveries({ cluster, message }: { cluster: string; message: Message }) {
  const { t } = useTranslation()
  const deliveries = useDeliveries(cluster, message)
  const known = deliveries.data
  return (
    <>
      <SectionHead
        name={t("messages.sections.delivery")}
        fact={known ? t("messages.groupsConsume", { count: known.length, topic: message.topic }) : ""}
      />
      <QueryBody query={deliveries} what={t("messages.deliveriesFailed")}>
        {(items) => (
          <div className={items.length > 0 ? classes.box : undefined}>
            {items.map((delivery) => (
              <Row key={delivery.group} delivery={delivery} />
            ))}
          </div>
        )}
      </QueryBody>
    </>
  )
}

function Row({ delivery: { group, state, behind } }: { delivery: MessageDelivery }) {
  const { t } = useTranslation()
  return (
    <div className={classes.delivery}>
      <Link to="/groups/$group" params={{ group }} className="truncate">
        {group}
      </Link>
      <span>
        {state === "consumed" && (
          <Badge tone="ok" icon={IconCircleCheck}>
            {t("messages.consumed")}
          </Badge>
        )}
        {state === "not_reached" && (
          <Badge tone="grey" icon={IconClockPause}>
            {t("messages.notReached")}
          </Badge>
        )}
        {state === "unknown" && <UnknownBadge>{t("groupStates.unknown")}</UnknownBadge>}
      </span>
      <span>{behind === null || state !== "not_reached" ? "" : t("messages.before", { count: behind, n: count(behind) })}</span>
    </div>
  )
}
