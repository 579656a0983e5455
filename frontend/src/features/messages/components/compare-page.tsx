import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Page } from "@/components/layout/page"
import { Callout, Panel } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryBody } from "@/components/states/query-panel"
import { useFormat } from "@/hooks/use-format"
import { useUrlState } from "@/hooks/use-url-state"
import { isWhole, type Message, type WholeMessage } from "@/lib/api-types"
import { bytes, count, queueAndOffset } from "@/lib/format"
import { type MessageAddress, useMessage } from "../api/get-message"
import { bytesOf, textOf } from "../body"
import { lineDiff } from "../line-diff"
import classes from "./compare.module.css"

/** Two messages side by side, with what differs between them marked. */
export function ComparePage({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [{ a, aTopic, b, bTopic }] = useUrlState()
  return (
    <Page title={t("compare.title")}>
      {a && aTopic && b && bTopic ? (
        <Compared cluster={cluster} a={{ id: a, topic: aTopic }} b={{ id: b, topic: bTopic }} />
      ) : (
        <Panel>
          <Empty title={t("compare.needsTwo")} next={t("compare.needsTwoNext")} />
        </Panel>
      )}
    </Page>
  )
}

function Compared({ cluster, a, b }: { cluster: string; a: MessageAddress; b: MessageAddress }) {
  const { t } = useTranslation()
  const one = useMessage(cluster, a)
  const other = useMessage(cluster, b)
  return (
    <QueryBody query={one} what={t("messages.oneFailed")}>
      {(first) => (
        <QueryBody query={other} what={t("messages.oneFailed")}>
          {(second) => <Sections a={first} b={second} />}
        </QueryBody>
      )}
    </QueryBody>
  )
}

function Sections({ a, b }: { a: Message; b: Message }) {
  const { t } = useTranslation()
  const hidden = [a, b].find((each) => !isWhole(each))
  return (
    <>
      <Panel title={t("compare.facts")}>
        <Facts a={a} b={b} />
      </Panel>
      {hidden && <Callout>{t("messages.hidden", { topic: hidden.topic, right: t("rights.bodies") })}</Callout>}
      {isWhole(a) && isWhole(b) && (
        <>
          <Panel title={t("messages.sections.properties")}>
            <Pairs pairs={propertiesOf(a, b)} />
          </Panel>
          <Bodies a={a} b={b} />
        </>
      )}
    </>
  )
}

type Pair = [name: string, a: string | null, b: string | null]

const propertiesOf = (a: WholeMessage, b: WholeMessage): Pair[] =>
  [...new Set([...Object.keys(a.properties), ...Object.keys(b.properties)])].sort().map((name) => [name, a.properties[name] ?? null, b.properties[name] ?? null])

function Facts({ a, b }: { a: Message; b: Message }) {
  const { t } = useTranslation()
  const format = useFormat()
  const facts: [string, (message: Message) => string | null][] = [
    [t("messages.id"), ({ message_id }) => message_id],
    [t("messages.topic"), ({ topic }) => topic],
    [t("topics.broker"), ({ broker }) => broker],
    [t("messages.queueOffset"), (message) => queueAndOffset(message.queue_id, message.queue_offset)],
    [t("compare.born"), ({ born_at }) => format.when(born_at, true)],
    [t("messages.stored"), ({ stored_at }) => format.when(stored_at, true)],
    [t("messages.keys"), ({ keys }) => keys.join(" ")],
    [t("messages.tag"), ({ tag }) => tag],
    [t("messages.retries"), ({ reconsume_times: times }) => count(times)],
    [t("messages.sections.body"), ({ body_bytes: size }) => bytes(size)],
    [t("compare.damaged"), ({ damage }) => damage],
  ]
  return <Pairs pairs={facts.map(([name, of]) => [name, of(a), of(b)])} />
}

function Pairs({ pairs }: { pairs: Pair[] }) {
  const { t } = useTranslation()
  return (
    <table className={classes.lines}>
      <colgroup>
        <col className={classes.name} />
        <col className={classes.sign} />
      </colgroup>
      <tbody>
        {pairs.map(([name, a, b]) => (
          <tr key={name} data-differs={a !== b || undefined}>
            <th scope="row">{name}</th>
            <Sign isSame={a === b} label={t("compare.differs")} />
            <td>{a ?? "—"}</td>
            <td>{b ?? "—"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

/** A difference is told by a sign too, not by the colour alone. */
const Sign = ({ isSame, label }: { isSame: boolean; label: string }): ReactNode => <td>{isSame ? "" : <span aria-label={label} role="img">≠</span>}</td>

function Bodies({ a, b }: { a: WholeMessage; b: WholeMessage }) {
  const { t } = useTranslation()
  const lines = lineDiff(textOf(a.body).split("\n"), textOf(b.body).split("\n"))
  if (lines === null) {
    return (
      <Panel title={t("messages.sections.body")}>
        <Callout>{t("compare.tooLong", { verdict: t(areEqual(a, b) ? "compare.equal" : "compare.unequal") })}</Callout>
      </Panel>
    )
  }
  const differ = lines.filter(({ isSame }) => !isSame).length
  const note = differ === 0 ? t("compare.same", { count: lines.length }) : t("compare.differ", { count: differ })
  return (
    <Panel title={t("messages.sections.body")} note={note}>
      <table className={classes.lines}>
        <colgroup>
          <col className={classes.sign} />
        </colgroup>
        <tbody>
          {lines.map(({ a: one, b: other, isSame }, index) => (
            <tr key={index} data-differs={!isSame || undefined}>
              <Sign isSame={isSame} label={t("compare.differs")} />
              <td>{one ?? ""}</td>
              <td>{other ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  )
}

function areEqual(a: WholeMessage, b: WholeMessage): boolean {
  const [one, other] = [bytesOf(a.body), bytesOf(b.body)]
  return one.length === other.length && one.every((byte, at) => byte === other[at])
}
