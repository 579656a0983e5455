import type { TFunction } from "i18next"
import { Badge, Tag } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { Ident } from "@/components/values/ident"
import { Num } from "@/components/values/num"
import { Time } from "@/components/values/time"
import type { MessageSummary } from "@/lib/api-types"
import { bytes, queueAndOffset } from "@/lib/format"
import classes from "./messages.module.css"

const column = columnsFor<MessageSummary>()
const MANY_RETRIES = 10

/** Beside a drawer the list keeps what tells messages apart; keys and size go first. */
export const messageColumns = (t: TFunction, withTopic: boolean, withBroker = false) => [
  column("stored", t("messages.stored"), { width: 118 }, ({ stored_at }) => <Time at={stored_at} withMs />),
  ...(withTopic ? [column("topic", t("messages.topic"), { isName: true, minWidth: 560 }, ({ topic }) => topic)] : []),
  ...(withBroker ? [column("broker", t("topics.broker"), { isSecondary: true, minWidth: 520 }, ({ broker }) => broker)] : []),
  column("queue", t("messages.queueOffset"), { align: "end", isSecondary: true, minWidth: 420 }, (message) =>
    queueAndOffset(message.queue_id, message.queue_offset),
  ),
  column("id", t("messages.id"), { minWidth: 460 }, ({ message_id, damage }) => (
    <>
      <Ident id={message_id} />
      {damage !== null && <Badge tone="crit">{t("messages.damaged")}</Badge>}
    </>
  )),
  column("keys", t("messages.keys"), { isSecondary: true }, ({ keys }) => (
    <span className="mono" title={keys.join("\n")}>
      {keys.slice(0, 2).join(" ")}
      {keys.length > 2 && ` +${keys.length - 2}`}
    </span>
  )),
  column("tag", t("messages.tag"), { minWidth: 480 }, ({ tag }) => tag && <Tag>{tag}</Tag>),
  column("size", t("messages.size"), { align: "end", isSecondary: true, minWidth: 860 }, ({ size_bytes }) => bytes(size_bytes)),
  column("retries", t("messages.retries"), { align: "end", minWidth: 620 }, ({ reconsume_times: times }) => (
    <span className={classes.retries} data-many={times >= MANY_RETRIES || undefined}>
      <Num value={times} />
    </span>
  )),
]
