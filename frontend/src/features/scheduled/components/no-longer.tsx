import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Definitions } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { Loading } from "@/components/states/loading"
import { SkeletonRows } from "@/components/states/skeleton-rows"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import { useLanguage } from "@/hooks/use-format"
import { asProblem, isGone } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { useDelivered } from "../api/get-delivered"
import classes from "./scheduled.module.css"

interface NoLongerProps {
  cluster: string
  id: string
  topic: string | undefined
  /** What the server said when it was asked for the message that waits. */
  refusal: unknown
}

/** What became of a message that does not wait any more. */
export function NoLonger({ cluster, id, topic, refusal }: NoLongerProps) {
  const { t } = useTranslation()
  const language = useLanguage()
  const { data, error, isLoading } = useDelivered(cluster, id, topic)
  if (isLoading) return <Loading skeleton={<SkeletonRows />} />
  if (!data) return <Empty small title={t("scheduled.waitsNot")} next={problemIn(t, language, asProblem(refusal))} actions={isGone(error) && <p>{t("scheduled.notDelivered", { topic })}</p>} />
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
