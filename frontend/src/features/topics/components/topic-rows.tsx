import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { PhoneRows } from "@/components/data-table/phone-rows"
import { NotApplicable } from "@/components/values/num"
import type { TopicSummary } from "@/lib/api-types"
import { count } from "@/lib/format"
import { TopicFigure } from "./topic-figure"

/** For a phone: the whole name and the lag of its slowest group, then how much it holds. */
export function TopicRows({ rows, onEnd }: { rows: readonly TopicSummary[]; onEnd?: (() => void) | undefined }) {
  const { t } = useTranslation()
  return (
    <PhoneRows label={t("nav.topics")} rows={rows} onEnd={onEnd}>
      {(topic) => (
        <>
          <Link to="/topics/$topic" params={{ topic: topic.name }}>
            {topic.name}
          </Link>
          <b>{topic.groups === 0 ? <NotApplicable /> : <TopicFigure topic={topic} field="max_lag" />}</b>
          <small>{topic.messages === null ? t("states.unknown") : t("topics.holds", { count: topic.messages, n: count(topic.messages) })}</small>
          <small>{t("topics.maxLag")}</small>
        </>
      )}
    </PhoneRows>
  )
}
