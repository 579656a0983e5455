import type { TFunction } from "i18next"
import type { Problem } from "@/lib/problem"

type ReasonKey =
  | "refused" | "unknownHost" | "noNetwork" | "noConnection" | "closed" | "unreachable" | "late" | "stranger" | "notNameServer"
  | "busy" | "notServed" | "notServedType" | "noLeases" | "noAssignment" | "noTopicConfig" | "noGroupConfig" | "noProducers" | "noLitePull"
  | "malformed" | "noBrokers" | "noCluster" | "noSession" | "refusedSilently" | "refusedBecause" | "unlisted"

/** The sentences in which the server says why nobody answered, and what each is called here. */
const REASONS: readonly [ReasonKey, RegExp][] = [
  ["refused", /^(?<peer>.+) refused the connection$/],
  ["unknownHost", /^(?<peer>.+) has a host name that cannot be resolved$/],
  ["noNetwork", /^(?<peer>.+) cannot be reached: there is no route to it$/],
  ["noConnection", /^(?<peer>.+) did not accept a connection in time$/],
  ["closed", /^(?<peer>.+) closed the connection$/],
  ["unreachable", /^(?<peer>.+) cannot be reached$/],
  ["late", /^(?<peer>.+) did not answer within (?<seconds>[\d.]+) s$/],
  ["stranger", /^(?<peer>.+) does not answer like a name server: another program listens there$/],
  ["notNameServer", /^(?<peer>.+) is not a name server: it is a broker or another program$/],
  ["busy", /^(?<peer>.+) is too busy to answer$/],
  ["notServed", /^(?<peer>.+) does not support this request$/],
  ["notServedType", /^(?<peer>.+) does not support requests of type (?<type>\d+)$/],
  ["noLeases", /^(?<peer>.+) does not support leases; RocketMQ 5 and Gantry do$/],
  ["noAssignment", /^(?<peer>.+) does not assign queues to consumers; RocketMQ 5 and Gantry do$/],
  ["noTopicConfig", /^(?<peer>.+) does not report the settings of one topic; RocketMQ 5 and Gantry do$/],
  ["noGroupConfig", /^(?<peer>.+) does not report the settings of one group; RocketMQ 5 and Gantry do$/],
  ["noProducers", /^(?<peer>.+) does not list its producers; RocketMQ 4\.9\.3, RocketMQ 5 and Gantry do$/],
  ["noLitePull", /^(?<peer>.+) does not support lite pull; RocketMQ 5 and Gantry do$/],
  ["malformed", /^(?<peer>.+) sent an answer that cannot be read$/],
  ["noBrokers", /^the topic's brokers were not found within (?<seconds>[\d.]+) s$/],
  ["noCluster", /^no cluster is named '(?<cluster>.+)'$/],
  ["noSession", /^the connection to the cluster is closed$/],
  ["unlisted", /^(?<peer>.+) is not listed by any name server$/],
  ["refusedSilently", /^(?<peer>.+) refused: it gave no reason$/],
  ["refusedBecause", /^(?<peer>.+) refused: (?<words>.+)$/],
]

const PEERS = [
  ["nameServer", /^name server (?<address>\S+)$/],
  ["brokerAt", /^the broker at (?<address>\S+)$/],
  ["namedBroker", /^(?<name>\S+) at (?<address>\S+)$/],
  ["cluster", /^the cluster$/],
] as const

/** A reason of the server in the language of the reader; one without a translation stays as it is. */
export function reasonIn(t: TFunction, reason: string): string {
  for (const [key, pattern] of REASONS) {
    const match = pattern.exec(reason)
    if (match) return t(`reasons.${key}`, { ...match.groups, peer: peerIn(t, match.groups?.peer ?? "") })
  }
  return reason
}

function peerIn(t: TFunction, peer: string): string {
  for (const [key, pattern] of PEERS) {
    const match = pattern.exec(peer)
    if (match) return t(`reasons.peers.${key}`, { name: "", address: "", ...match.groups })
  }
  return peer
}

/**
 * A refusal in the language of the reader: its reason if that has a translation, else what kind it is and then the
 * sentence of the server, which names thing and value.
 */
export function problemIn(t: TFunction, language: string, problem: Problem): string {
  const detail = problem.message
  if (language === "en") return detail
  const reason = reasonOf(detail)
  const translated = reasonIn(t, reason)
  if (translated !== reason) return t("problems.sentence", { reason: translated })
  const kind = t(`problems.${problem.code}` as "problems.INTERNAL", { defaultValue: "" })
  return kind === "" ? detail : t("problems.of", { kind, detail })
}

/** The reason that a sentence was made of; a name at its start keeps its capital. */
const reasonOf = (sentence: string) => sentence.replace(/\.$/, "").replace(/^(?:The|Name|No) /, (word) => word.toLowerCase())
