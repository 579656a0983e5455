import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Definitions } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { Loading } from "@/components/states/loading"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import { isGone } from "@/lib/problem"
import { useDelivered } from "../api/get-delivered"
import classes from "./scheduled.module.css"

interface NoLongerProps {
  cluster: string
  id: string
  topic: string | undefined
}

/** What became of a message that does not wait any more. */
export function NoLonger({ cluster, id, topic }: NoLongerProps) {
  const { t } = useTranslation()
  const { data, error, isLoading } = useDelivered(cluster, id, topic)
  if (isLoading) return <Loading skeleton={<SkeletonRows />} />
  if (!data) return <Empty small title={t("scheduled.waitsNoMore")} next={t(isGone(error) ? "scheduled.notDelivered" : "scheduled.deliveredOrRecalled", { topic })} />
  return (
    <section className={classes.section}>
      <h2>{data.topic}</h2>
      <Definitions
        items={[
          [t("scheduled.deliveredAt"), <Time key="at" at={data.stored_at} withMs />],
          [t("scheduled.id"), <Ident key="id" id={id} whole />],
          [t("scheduled.queue"), `${data.broker} / ${data.queue_id}`],
        ]}
      />
      <Link to="/messages" search={{ mode: "id", topic: data.topic, id, open: id }}>
        {t("scheduled.openDelivered")}
      </Link>
    </section>
  )
}
