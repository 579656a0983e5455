import { Button } from "@mantine/core"
import { IconArrowBackUp } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { Callout, Definitions } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Ident } from "@/components/values/ident"
import { Time } from "@/components/values/time"
import { useFormat } from "@/hooks/use-format"
import type { ScheduledDetail } from "@/lib/api-types"
import { bytes } from "@/lib/format"
import { asProblem, isGone } from "@/lib/problem"
import { detailIn } from "@/lib/reasons"
import { isInstant } from "@/lib/time"
import { useScheduledMessage } from "../api/get-message"
import { useRecall } from "../api/recall"
import { useReschedule } from "../api/reschedule"
import { NoLonger } from "./no-longer"
import { Until } from "./scheduled-list"
import classes from "./scheduled.module.css"

interface ScheduledDrawerProps {
  cluster: string
  id: string
  /** Of which topic the list said it is: what became of a message that waits no more is looked for there. */
  topic: string | undefined
  onClose: () => void
}

/** One message that waits: when, what, and the two things one can still do. */
export function ScheduledDrawer({ cluster, id, topic, onClose }: ScheduledDrawerProps) {
  const { t } = useTranslation()
  const query = useScheduledMessage(cluster, id)
  return (
    <DockedDrawer label={t("scheduled.message")} onClose={onClose}>
      {isGone(query.error) ? (
        <NoLonger cluster={cluster} id={id} topic={topic} refusal={query.error} />
      ) : (
        <QueryBody query={query} what={t("scheduled.messageFailed")}>
          {(message) => (
            <>
              <Facts message={message} />
              <Reschedule cluster={cluster} message={message} />
              <Recall cluster={cluster} message={message} onDone={onClose} />
              <Body message={message} />
            </>
          )}
        </QueryBody>
      )}
    </DockedDrawer>
  )
}

function Facts({ message }: { message: ScheduledDetail }) {
  const { t } = useTranslation()
  return (
    <section className={classes.section}>
      <h2>{message.topic}</h2>
      <Definitions
        items={[
          [t("scheduled.due"), <Time key="due" at={message.due_at} withMs />],
          [t("scheduled.in"), <Until key="in" at={message.due_at} />],
          [t("scheduled.id"), <Ident key="id" id={message.message_id} whole />],
          [t("scheduled.key"), message.keys.join(" ") || "—"],
          [t("scheduled.tag"), message.tag ?? "—"],
          [t("scheduled.stored"), <Time key="stored" at={message.stored_at} />],
          [t("scheduled.sender"), message.born_host],
          [t("scheduled.queue"), `${message.broker} / ${message.queue_id}`],
        ]}
      />
    </section>
  )
}

function Reschedule({ cluster, message }: { cluster: string; message: ScheduledDetail }) {
  const { t } = useTranslation()
  const format = useFormat()
  const [at, setAt] = useState<string | undefined>(message.due_at)
  const change = useReschedule(cluster)
  // Of another time than the one that was sent, the server said nothing.
  const refused = change.error && change.variables.at === at ? asProblem(change.error).fields.deliver_at : undefined
  const isReady = at !== undefined && isInstant(at) && Date.parse(at) !== Date.parse(message.due_at)
  const send = () => {
    if (!isReady) return
    change.mutate(
      { id: message.message_id, at },
      {
        onSuccess: ({ due_at: due }) => toastDone(t("scheduled.moved"), due ? format.when(due, true) : ""),
        onError: (error) => toastFailed(t("scheduled.moveFailed"), error, ["deliver_at"]),
      },
    )
  }
  return (
    <section className={classes.section}>
      <h2>{t("scheduled.reschedule")}</h2>
      <WallClockInput label={t("scheduled.newTime")} description={t("scheduled.newTimeHint")} value={at} error={refused && detailIn(t, format.language, refused)} onChange={setAt} />
      <div>
        <NeedsRight right="produce">
          <Button size="xs" disabled={!isReady} loading={change.isPending} onClick={send}>
            {t("scheduled.reschedule")}
          </Button>
        </NeedsRight>
      </div>
    </section>
  )
}

function Recall({ cluster, message, onDone }: { cluster: string; message: ScheduledDetail; onDone: () => void }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const recall = useRecall(cluster)
  const confirm = () =>
    recall.mutate(message.message_id, {
      onSuccess: () => {
        toastDone(t("scheduled.didRecall"), t("scheduled.didRecallFact"))
        onDone()
      },
      onError: (error) => {
        setAsking(false)
        toastFailed(t("scheduled.recallFailed"), error)
      },
    })
  return (
    <section className={classes.section}>
      <h2>{t("scheduled.recall")}</h2>
      <div>
        <NeedsRight right="produce">
          <Button size="xs" data-danger leftSection={<IconArrowBackUp size={14} stroke={1.6} />} onClick={() => setAsking(true)}>
            {t("scheduled.recallThis")}
          </Button>
        </NeedsRight>
      </div>
      <ConfirmDanger isOpen={isAsking} onClose={() => setAsking(false)} title={t("scheduled.recallAsk")} action={t("scheduled.recallThis")} isBusy={recall.isPending} onConfirm={confirm}>
        <p>{t("scheduled.recallMeans", { topic: message.topic })}</p>
      </ConfirmDanger>
    </section>
  )
}

function Body({ message: { body, hidden, body_bytes: size } }: { message: ScheduledDetail }) {
  const { t } = useTranslation()
  return (
    <section className={classes.section}>
      <h2>{t("scheduled.body", { size: bytes(size) })}</h2>
      {body === null ? <Callout>{hidden ?? t("states.unknown")}</Callout> : <CodeBlock wrap language={body.encoding === "json" ? "json" : "plain"} text={body.text ?? String(body.data)} label={t("scheduled.bodyLabel")} />}
    </section>
  )
}
