import { IconAlertTriangle, IconCircleCheck } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Badge, UnknownBadge } from "@/components/badges/badge"
import { QueryBody } from "@/components/states/query-panel"
import { ReadFromSlaves } from "@/components/states/read-from-slaves"
import { useFormat } from "@/hooks/use-format"
import type { MessageTrace, TracedConsumption } from "@/lib/api-types"
import { count } from "@/lib/format"
import type { MessageAddress } from "../api/get-message"
import { useTrace } from "../api/get-trace"
import { type GroupTrace, groupsOf, linesOf, type TraceLine } from "../traces"
import classes from "./messages.module.css"
import { MissingBrokers } from "./missing-brokers"
import { SectionHead } from "./section-head"

/** From here on whole seconds say enough. */
const LONG_MS = 10_000

/** What clients traced of a message: group by group, and in the order of time; where nothing is traced, how to change that. */
export function MessageTraces({ cluster, address, bornAt }: { cluster: string; address: MessageAddress; bornAt?: string }) {
  const { t } = useTranslation()
  const query = useTrace(cluster, address)
  return (
    <>
      <SectionHead name={t("messages.sections.traces")} fact={query.data?.trace_topic ?? ""} />
      <QueryBody query={query} what={t("trace.failed")}>
        {(trace) => (
          <>
            {trace.state === "traced" ? <Traced trace={trace} bornAt={bornAt} /> : <Untraced state={trace.state} topic={trace.trace_topic} />}
            <MissingBrokers missing={trace.missing} />
            <ReadFromSlaves slaves={trace.from_slaves} />
            {trace.state === "traced" && !trace.complete && <p className="micro">{t("trace.notAll")}</p>}
            {trace.hidden > 0 && <p className="micro">{t("trace.hidden", { count: trace.hidden })}</p>}
          </>
        )}
      </QueryBody>
    </>
  )
}

function Untraced({ state, topic }: { state: Exclude<MessageTrace["state"], "traced">; topic: string }) {
  const { t } = useTranslation()
  return (
    <div className={classes.untraced}>
      <UnknownBadge>{t(`trace.states.${state}`, { topic })}</UnknownBadge>
      {state !== "unknown" && <small>{t("trace.switchOn")}</small>}
    </div>
  )
}

function Traced({ trace, bornAt }: { trace: MessageTrace; bornAt: string | undefined }) {
  const lines = linesOf(trace)
  const groups = groupsOf(trace)
  const start = bornAt ?? lines[0]?.at
  return (
    <>
      {groups.length > 0 && (
        <div className={`${classes.box} ${classes.traceGroups}`}>
          {groups.map((each) => (
            <GroupRow key={each.group} of={each} />
          ))}
        </div>
      )}
      <ol className={classes.timeline}>
        {lines.map((line, index) => (
          <Line key={index} line={line} start={start ? Date.parse(start) : null} />
        ))}
      </ol>
    </>
  )
}

function GroupRow({ of: { group, result, calls, failed, costMs } }: { of: GroupTrace }) {
  const { t } = useTranslation()
  const format = useFormat()
  const facts = [
    t("trace.calls", { count: calls, n: count(calls) }),
    failed > 0 && result === "ok" && t("trace.failedBefore", { n: count(failed) }),
    costMs !== null && format.milliseconds(costMs),
  ]
  return (
    <div className={classes.delivery}>
      {group ? (
        <Link to="/groups/$group" params={{ group }} className="truncate">
          {group}
        </Link>
      ) : (
        <span>{t("trace.noGroup")}</span>
      )}
      <span>
        {result === "ok" && (
          <Badge tone="ok" icon={IconCircleCheck}>
            {t("trace.results.ok")}
          </Badge>
        )}
        {result === "failed" && (
          <Badge tone="crit" icon={IconAlertTriangle}>
            {t("trace.results.failed")}
          </Badge>
        )}
        {result === "open" && <UnknownBadge>{t("trace.results.open")}</UnknownBadge>}
      </span>
      <span>{facts.filter(Boolean).join(" · ")}</span>
    </div>
  )
}

function Line({ line, start }: { line: TraceLine; start: number | null }) {
  const format = useFormat()
  const { what, small } = useWords(line)
  const since = line.at === null || start === null ? null : Date.parse(line.at) - start
  return (
    <li>
      <span>{line.at === null ? "—" : format.clock(line.at, true)}</span>
      <span>{since !== null && `${since > 0 ? "+" : ""}${since < LONG_MS ? format.milliseconds(since) : format.duration(since)}`}</span>
      <span className={classes.mark} data-result={line.result} />
      <span data-result={line.result}>
        {what}
        <small>{small.filter(Boolean).join(" · ")}</small>
      </span>
    </li>
  )
}

interface Words {
  what: string
  /** Its circumstances. */
  small: (string | false | null)[]
}

function useWords(line: TraceLine): Words {
  const { t } = useTranslation()
  const format = useFormat()
  if (line.kind === "sent") return sendWords(t, line.send, format.milliseconds(line.send.cost_ms))
  if (line.kind === "consumed") return callWords(t, line.call, line.call.cost_ms === null ? null : format.milliseconds(line.call.cost_ms))
  if (line.kind === "ended") return endWords(t, line.end)
  const { group, client, success } = line.recall
  return { what: t(success ? "trace.recalledBy" : "trace.notRecalledBy", { group: nameOf(t, group) }), small: [client] }
}

const nameOf = (t: TFunction, group: string | null) => group || t("trace.noGroup")

function sendWords(t: TFunction, { group, client, type, success, store_host: host }: MessageTrace["sent"][number], cost: string): Words {
  return {
    what: t("trace.sentBy", { group: nameOf(t, group) }),
    small: [
      client,
      t("trace.answeredAfter", { cost }),
      host && t("trace.to", { host }),
      type !== null && type !== "normal" && t(`trace.types.${type}`),
      !success && t("trace.lessSafe"),
    ],
  }
}

function callWords(t: TFunction, { group, client, success, outcome, tries }: TracedConsumption, cost: string | null): Words {
  const began = success === null ? "trace.begunBy" : success ? "trace.consumedBy" : "trace.failedIn"
  return {
    what: t(began, { group: nameOf(t, group) }),
    small: [
      client,
      cost === null ? t("trace.noEnd") : t("trace.took", { cost }),
      success === false && t(`trace.outcomes.${outcome ?? "failed"}`),
      tries !== null && t("trace.try", { n: count(tries + 1) }),
    ],
  }
}

function endWords(t: TFunction, { group, client, state, from_check: isAsked }: MessageTrace["ended"][number]): Words {
  const known = state === "COMMIT_MESSAGE" || state === "ROLLBACK_MESSAGE" || state === "UNKNOW"
  return { what: known ? t(`trace.ends.${state}`, { group: nameOf(t, group) }) : state, small: [client, isAsked && t("trace.asked")] }
}
