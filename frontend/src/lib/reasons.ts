import type { TFunction } from "i18next"
import type { Problem } from "@/lib/problem"

type ReasonKey =
  | "refused" | "unknownHost" | "noNetwork" | "noConnection" | "closed" | "unreachable" | "late" | "stranger" | "notNameServer"
  | "busy" | "notServed" | "refusedBecause" | "unlisted"

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
  ["unlisted", /^(?<peer>.+) is not listed by any name server$/],
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
    const found = pattern.exec(reason)?.groups
    if (found) return t(`reasons.${key}`, { ...found, peer: peerIn(t, found.peer ?? "") })
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

/** A refusal in the language of the reader: what kind it is, then the sentence of the server, which names thing and value. */
export function problemIn(t: TFunction, language: string, problem: Problem): string {
  const detail = reasonIn(t, problem.message)
  if (language === "en" || detail !== problem.message) return detail
  const kind = t(`problems.${problem.code}` as "problems.INTERNAL", { defaultValue: "" })
  return kind === "" ? detail : t("problems.of", { kind, detail })
}
