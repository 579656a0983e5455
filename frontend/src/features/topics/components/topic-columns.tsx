import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { columnsFor } from "@/components/data-table/columns"
import { PinStar } from "@/components/data-table/pin-star"
import { MeasuredAge } from "@/components/values/last-known"
import { NotApplicable, Num } from "@/components/values/num"
import { Ago } from "@/components/values/time"
import type { TopicSummary } from "@/lib/api-types"
import { bytes, rate } from "@/lib/format"
import { pinnedTopics } from "@/lib/preferences"
import { ChooseTopic } from "./choose-topic"
import { MessageTypeCell } from "./message-type"
import { TopicFigure } from "./topic-figure"
import { TopicMenu } from "./topic-menu"

const column = columnsFor<TopicSummary>()

/** The columns of the topic list; the first to go when narrow are kind and queues. */
export const topicColumns = (t: TFunction) => [
  column("choose", "", { width: 20, isFixed: true, minWidth: 560 }, ({ name }) => <ChooseTopic topic={name} />),
  column("star", "", { width: 20, isFixed: true, minWidth: 560 }, ({ name }) => <PinStar name={name} pins={pinnedTopics} label={t("topics.pin", { topic: name })} />),
  column("name", t("topics.name"), { isName: true, sort: "name", isFixed: true }, ({ name }) => (
    <Link to="/topics/$topic" params={{ topic: name }} title={name}>
      {name}
    </Link>
  )),
  column("kind", t("topics.kind"), { isSecondary: true, minWidth: 900 }, ({ kind }) => t(`topics.kinds.${kind}`)),
  column("message_type", t("topics.messageType"), { isSecondary: true, minWidth: 1000 }, (topic) => <MessageTypeCell topic={topic} />),
  column("queues", t("topics.queues"), { align: "end", isSecondary: true, minWidth: 820 }, (topic) => `${topic.total_read_queues} / ${topic.total_write_queues}`),
  column("messages", t("topics.messages"), { align: "end", sort: "messages", minWidth: 480 }, (topic) => (
    <>
      <TopicFigure topic={topic} field="messages" />
      <MeasuredAge at={topic.measured_at} />
    </>
  )),
  column("size", t("topics.size"), { align: "end", sort: "size_bytes", minWidth: 1160 }, ({ size_bytes, missing }) => (
    <Num value={size_bytes} write={bytes} reason={missing[0]?.reason ?? t("topics.sizeUnknown")} />
  )),
  column("in_rate", t("topics.in"), { align: "end", sort: "in_rate", minWidth: 560 }, (topic) => <TopicFigure topic={topic} field="in_rate" write={rate} />),
  column("out_rate", t("topics.out"), { align: "end", sort: "out_rate", minWidth: 1080 }, ({ out_rate }) => <Num value={out_rate} write={rate} />),
  column("last_stored_at", t("topics.lastWrite"), { align: "end", isSecondary: true, sort: "last_stored_at", minWidth: 760 }, (topic) => (
    <Ago at={topic.last_stored_at} />
  )),
  column("groups", t("topics.groups"), { align: "end", sort: "groups", minWidth: 640 }, ({ groups }) => <Num value={groups} />),
  column("max_lag", t("topics.maxLag"), { align: "end", sort: "max_lag", isStrong: true }, (topic) =>
    topic.groups === 0 ? <NotApplicable /> : <TopicFigure topic={topic} field="max_lag" />,
  ),
  column("menu", "", { width: 28, isFixed: true, minWidth: 560 }, ({ name }) => <TopicMenu topic={name} />),
]
