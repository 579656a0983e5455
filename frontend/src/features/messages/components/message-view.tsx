import { Button } from "@mantine/core"
import { IconArrowsDiff } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Tag } from "@/components/badges/badge"
import { CopyButton } from "@/components/code/copy-button"
import { Time } from "@/components/values/time"
import { isWhole, type Message } from "@/lib/api-types"
import { count, shortId } from "@/lib/format"
import { useTimeline } from "../api/get-timeline"
import { chosenMessage, useChosen } from "../comparison"
import { MessageBody } from "./message-body"
import { MessageDeliveries } from "./message-deliveries"
import { MessageLife } from "./message-life"
import { MessageProperties } from "./message-properties"
import { MessageTimeline } from "./message-timeline"
import { MessageTraces } from "./message-traces"
import { SectionHead } from "./section-head"
import classes from "./messages.module.css"

const SECTIONS = ["body", "properties", "delivery", "timeline", "traces"] as const
type SectionName = (typeof SECTIONS)[number]
const placeOf = (name: SectionName) => `message-${name}`

/** One page with five sections; the tabs only scroll to them. */
export function MessageView({ cluster, message }: { cluster: string; message: Message }) {
  const { t } = useTranslation()
  const [current, setCurrent] = useState<SectionName>("body")
  const go = (name: SectionName) => {
    setCurrent(name)
    document.getElementById(placeOf(name))?.scrollIntoView({ block: "start" })
  }
  return (
    <>
      <MessageHead cluster={cluster} message={message} />
      <nav className={classes.spy}>
        {SECTIONS.map((name) => (
          <a
            key={name}
            href={`#${placeOf(name)}`}
            aria-current={name === current}
            onClick={(event) => {
              event.preventDefault()
              go(name)
            }}
          >
            {t(`messages.sections.${name}`)}
            {name === "properties" && message.properties && <small className="micro">{Object.keys(message.properties).length}</small>}
          </a>
        ))}
      </nav>
      <section id={placeOf("body")} className={classes.section}>
        {isWhole(message) ? <MessageBody message={message} /> : <HiddenContents section="body" topic={message.topic} />}
      </section>
      <section id={placeOf("properties")} className={classes.section}>
        {isWhole(message) ? <MessageProperties message={message} /> : <HiddenContents section="properties" topic={message.topic} />}
      </section>
      <section id={placeOf("delivery")} className={classes.section}>
        <MessageDeliveries cluster={cluster} message={message} />
      </section>
      <section id={placeOf("timeline")} className={classes.section}>
        <Beginning cluster={cluster} message={message} />
        <MessageLife cluster={cluster} message={message} />
      </section>
      <section id={placeOf("traces")} className={classes.section}>
        <MessageTraces cluster={cluster} address={{ id: message.message_id, topic: message.topic }} bornAt={message.born_at} />
      </section>
    </>
  )
}

/** How it came to its topic, with what it waited for before. */
function Beginning({ cluster, message }: { cluster: string; message: Message }) {
  const { data } = useTimeline(cluster, message)
  return <MessageTimeline message={message} waits={data?.events.filter(({ kind }) => kind === "due" || kind === "committed") ?? []} />
}

/** Stands where somebody may not read: what is there is not said. */
function HiddenContents({ section, topic }: { section: "body" | "properties"; topic: string }) {
  const { t } = useTranslation()
  return (
    <>
      <SectionHead name={t(`messages.sections.${section}`)} />
      <p className="micro">{t("messages.hidden", { topic, right: t("rights.bodies") })}</p>
    </>
  )
}

function MessageHead({ cluster, message }: { cluster: string; message: Message }) {
  const { t } = useTranslation()
  return (
    <div className={classes.head}>
      <h2 className={classes.id}>
        {message.message_id}
        <CopyButton text={message.message_id} size={22} label={t("messages.copyId")} />
      </h2>
      <div className={classes.facts}>
        <b>{message.topic}</b>
        <span>{t("messages.atQueue", { n: message.queue_id })}</span>
        <span>{t("messages.atOffset", { n: count(message.queue_offset) })}</span>
        {message.tag && <Tag>{message.tag}</Tag>}
        <Time at={message.stored_at} withMs />
      </div>
      <CompareWithChosen cluster={cluster} message={message} />
    </div>
  )
}

/** Where a message was chosen on another page: sets this one beside it. */
function CompareWithChosen({ cluster, message: { message_id: id, topic } }: { cluster: string; message: Message }) {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const chosen = useChosen(cluster)
  if (!chosen || chosen.id === id) return null
  const compare = () => {
    void navigate({ to: "/messages/compare", search: { a: chosen.id, aTopic: chosen.topic, b: id, bTopic: topic } })
    chosenMessage.set(null)
  }
  return (
    <Button mt={8} size="xs" leftSection={<IconArrowsDiff size={15} stroke={1.6} />} onClick={compare}>
      {t("compare.second", { id: shortId(chosen.id) })}
    </Button>
  )
}
