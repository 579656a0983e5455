import i18next, { type TFunction } from "i18next"
import type { Problem } from "@/lib/problem"
import type { decisionIn } from "./decisions"
import type { JOB_REFUSALS } from "./job-refusals"
import type { DETAILS } from "./refusals"

let details: typeof DETAILS = []
let jobRefusals: typeof JOB_REFUSALS = []
let decided: typeof decisionIn = () => null

/** Know from now on what refuses a value and what a job, and what controllers say: these sentences are loaded after the first page. */
export function learnRefusals(ofValues: typeof DETAILS, ofJobs: typeof JOB_REFUSALS, ofControllers: typeof decisionIn): void {
  details = ofValues
  jobRefusals = ofJobs
  decided = ofControllers
}

type ReasonKey =
  | "tlsUntrusted" | "tlsOtherHost" | "tlsClient" | "tlsNone" | "tlsOnly" | "tlsRefused" | "tlsFailed"
  | "refused" | "unknownHost" | "noNetwork" | "noConnection" | "closed" | "unreachable" | "late" | "stranger" | "notNameServer"
  | "accessNoKey" | "accessNoAccount" | "accessWrongKey" | "accessNotAdmin" | "accessNoTopic" | "accessNoGroup" | "accessRefused"
  | "notPublic" | "noAddress" | "answeredStatus"
  | "busy" | "notServed" | "notServedType" | "noLeases" | "noAssignment" | "noMessageTypes" | "noScheduled" | "noGroupConfig" | "noController" | "noProducers" | "noSenders" | "noPurge" | "noLitePull" | "tagsAlone"
  | "malformed" | "noBrokers" | "noCluster" | "noSession" | "refusedSilently" | "refusedBecause" | "unlisted" | "notConsumed" | "notBegun" | "justAdded" | "notSampled"
  | "notAnswered" | "noMaster" | "replaced" | "otherBroker" | "notOfTopic" | "noSetting" | "noTopicNamed" | "noGroupNamed" | "ofBrokers" | "ofBrokersOrGroup" | "noOffsetIn" | "noOffset"
  | "noMasterListed" | "noMasterListedOf" | "purgeMost" | "keysEnded" | "noNativeClient" | "perhapsNoNativeClient" | "lists" | "notListedBy" | "listsNone" | "noTime" | "ms"
  | "nobodyAnswers" | "ownerOff" | "ownerGone" | "tokenRevoked" | "tokenExpired" | "consumedWhen" | "copiesOfReplays" | "retriesCut" | "numberFrom" | "eitherOr" | "nameOf" | "hours" | "accessKeys" | "networks" | "levels" | "noConsumerGroup" | "keepsAtMost" | "tooFar" | "cancelledBy" | "pausedBy" | "timeLimit" | "workerLost"

/** The sentences in which the server says why nobody answered, and what each is called here. */
const REASONS: readonly [ReasonKey, RegExp][] = [
  ["refused", /^(?<peer>.+) refused the connection$/],
  ["unknownHost", /^(?<peer>.+) has a host name that cannot be resolved$/],
  ["noNetwork", /^(?<peer>.+) cannot be reached: there is no route to it$/],
  ["noConnection", /^(?<peer>.+) did not accept a connection in time$/],
  ["closed", /^(?<peer>.+) closed the connection$/],
  ["tlsUntrusted", /^(?<peer>.+) has a certificate that is not trusted: (?<why>.+)$/],
  ["tlsOtherHost", /^(?<peer>.+) has a certificate for another host: (?<why>.+)$/],
  ["tlsClient", /^(?<peer>.+) requires a client certificate$/],
  ["tlsNone", /^(?<peer>.+) does not seem to speak TLS$/],
  ["tlsOnly", /^(?<peer>.+) accepts connections with TLS only$/],
  ["tlsRefused", /^(?<peer>.+) refused the TLS session: (?<why>.+)$/],
  ["tlsFailed", /^(?<peer>.+) cannot be reached with TLS: (?<why>.+)$/],
  ["unreachable", /^(?<peer>.+) cannot be reached$/],
  ["late", /^(?<peer>.+) did not answer within (?<seconds>[\d.]+) s$/],
  ["stranger", /^(?<peer>.+) does not answer like a name server: another program listens there$/],
  ["notNameServer", /^(?<peer>.+) is not a name server: it is a broker or another program$/],
  ["accessNoKey", /^(?<peer>.+) refused access: it requires an access key$/],
  ["accessNoAccount", /^(?<peer>.+) refused access: it knows no account (?<name>.+)$/],
  ["accessWrongKey", /^(?<peer>.+) refused access: the secret key of account (?<name>.+) is wrong$/],
  ["accessNotAdmin", /^(?<peer>.+) refused access: account (?<name>.+) is not an administrator, which request (?<code>\d+) requires$/],
  ["accessNoTopic", /^(?<peer>.+) refused access: the account has no right for topic (?<name>.+)$/],
  ["accessNoGroup", /^(?<peer>.+) refused access: the account has no right for group (?<name>.+)$/],
  ["accessRefused", /^(?<peer>.+) refused access: (?<words>.+)$/],
  ["notPublic", /^(?<peer>.+) is at (?<address>\S+), which is not public; webhooks may use it if GANTRY_WEBHOOK_NETWORKS has it$/],
  ["noAddress", /^(?<peer>.+) has no address: (?<why>.+)$/],
  ["answeredStatus", /^(?<peer>.+) answered (?<status>\d{3})$/],
  ["busy", /^(?<peer>.+) is too busy to answer$/],
  ["notServed", /^(?<peer>.+) does not support this request$/],
  ["notServedType", /^(?<peer>.+) does not support requests of type (?<type>\d+)$/],
  ["noLeases", /^(?<peer>.+) does not support leases; RocketMQ 5 and Gantry do$/],
  ["noAssignment", /^(?<peer>.+) does not assign queues to consumers; RocketMQ 5 and Gantry do$/],
  ["noMessageTypes", /^(?<peer>.+) does not keep the message types of topics; RocketMQ 5 and Gantry do$/],
  ["noScheduled", /^(?<peer>.+) does not list, move or recall messages that wait; Gantry does$/],
  ["noGroupConfig", /^(?<peer>.+) does not report the settings of one group; RocketMQ 5 and Gantry do$/],
  ["noController", /^(?<peer>.+) hosts no controller$/],
  ["noProducers", /^(?<peer>.+) does not list its producers; RocketMQ 4\.9\.3, RocketMQ 5 and Gantry do$/],
  ["noSenders", /^(?<peer>.+) does not tell which producers send to a topic; Gantry does$/],
  ["noPurge", /^(?<peer>.+) cannot purge a topic; Gantry can$/],
  ["tagsAlone", /^(?<peer>.+) filters by tags alone: its enablePropertyFilter is off$/],
  ["noLitePull", /^(?<peer>.+) does not support lite pull; RocketMQ 5 and Gantry do$/],
  ["malformed", /^(?<peer>.+) sent an answer that cannot be read$/],
  ["noBrokers", /^the topic's brokers were not found within (?<seconds>[\d.]+) s$/],
  ["noCluster", /^no cluster is named '(?<cluster>.+)'$/],
  ["noSession", /^the connection to the cluster is closed$/],
  ["notConsumed", /^it has not consumed yet: it has no offset in any queue$/],
  ["notBegun", /^it has no offset on (?<broker>.+) yet: where it will begin there is not known$/],
  ["justAdded", /^it was just added and has not been sampled yet$/],
  ["notSampled", /^it was not sampled in the last seconds$/],
  ["unlisted", /^(?<peer>.+) is not listed by any name server$/],
  ["notAnswered", /^(?<peer>.+) has not answered yet$/],
  ["noMaster", /^no master of broker '(?<name>.+)' is known$/],
  ["replaced", /^another broker answers at (?<address>\S+), where (?<name>\S+) was$/],
  ["otherBroker", /^another broker answers at (?<address>[^\s,]+)$/],
  ["notOfTopic", /^it is known, but no name server lists it for this topic$/],
  ["noSetting", /^the broker does not report (?<name>\S+)$/],
  ["noTopicNamed", /^no topic is named '(?<name>[^']+)'$/],
  ["noGroupNamed", /^no broker that answers has a group '(?<name>[^']+)'$/],
  ["ofBrokers", /^(?:topic )?'(?<name>[^']+)' belongs to the brokers$/],
  ["ofBrokersOrGroup", /^topic '(?<name>[^']+)' belongs to the brokers or to a group$/],
  ["noOffsetIn", /^the group has no offset in a topic '(?<name>[^']+)'$/],
  ["noOffset", /^the group has no offset in any topic$/],
  ["purgeMost", /^only (?<n>\d+) groups are asked for$/],
  ["keysEnded", /^the search ended after (?<seconds>[\d.]+) s or (?<n>[\d,]+) messages; look this key up again$/],
  ["noNativeClient", /^No native client of group '(?<group>[^']+)' is connected\. Consumers by lease get these copies only if they receive from topic '(?<topic>[^']+)'; otherwise send to the topics they came from\.$/],
  ["perhapsNoNativeClient", /^It is not known whether a native client of group '(?<group>[^']+)' is connected\. Consumers by lease get these copies only if they receive from topic '(?<topic>[^']+)'; otherwise send to the topics they came from\.$/],
  ["lists", /^lists (?<n>\d+) brokers?$/],
  ["notListedBy", /^not listed by (?<names>.+)$/],
  ["nobodyAnswers", /^no broker answers$/],
  ["ownerOff", /^The user '(?<user>[^']+)', by whose rights it runs, is deactivated\.$/],
  ["ownerGone", /^The user by whose rights it runs does not exist any more\.$/],
  ["tokenRevoked", /^The token '(?<token>[^']+)' of '(?<user>[^']+)', by whose rights it runs, was revoked\.$/],
  ["tokenExpired", /^The token '(?<token>[^']+)' of '(?<user>[^']+)', by whose rights it runs, expired at (?<time>\S+)\.$/],
  ["noMasterListed", /^no name server lists a master$/],
  ["noMasterListedOf", /^no name server lists a master of (?<name>\S+)$/],
  ["listsNone", /^the name servers list no broker$/],
  ["consumedWhen", /^Brokers do not record when a group consumed a message\.$/],
  ["copiesOfReplays", /^Copies that replays wrote to other topics are not looked for; the reports of these jobs name them\.$/],
  ["retriesCut", /^Retries of more than (?<n>\d+) groups, or those that took longer than (?<seconds>[\d.]+) s, were not looked up\.$/],
  ["numberFrom", /^a number from (?<low>[\d,]+) to (?<high>[\d,]+)$/],
  ["eitherOr", /^(?<one>\S+) or (?<other>\S+)$/],
  ["nameOf", /^a name of letters, digits, %, \|, _ and -$/],
  ["hours", /^hours of the day like (?<one>\S+) or (?<other>\S+)$/],
  ["accessKeys", /^access keys with commas between them, or nothing$/],
  ["networks", /^networks such as (?<one>\S+) with commas between them, or nothing$/],
  ["levels", /^times like (?<times>.+)$/],
  ["noTime", /^the broker does not tell its time$/],
  ["ms", /^(?<ms>[+-]\d+) ms, exact to (?<exact>\d+) ms$/],
  ["noConsumerGroup", /^no consumer group is named '(?<name>[^']+)'(?:; create it first)?$/],
  ["keepsAtMost", /^(?<peer>.+) keeps messages for at most (?<most>\d+ [\w ]+)$/],
  ["tooFar", /^(?<peer>.+) keeps messages for at most (?<most>\d+ [\w ]+); this one would wait (?<wait>\d+ [\w ]+)$/],
  ["cancelledBy", /^cancelled by (?<user>.+?)(?:; messages already written stay)?$/],
  ["pausedBy", /^paused by (?<user>.+)$/],
  ["timeLimit", /^it was stopped after (?<n>\d+) minutes? \((?<name>[\w.]+)\)$/],
  ["workerLost", /^its worker was lost$/],
  ["refusedSilently", /^(?<peer>.+) refused: it gave no reason$/],
  ["refusedBecause", /^(?<peer>.+) refused: (?<words>.+)$/],
]

/** The sentences around another reason. */
const AROUND: readonly ["nothingKnown" | "notSearched" | "readersUnknown" | "ownerMayNot" | "retryIt" | "resumeIt", RegExp][] = [
  ["retryIt", /^(?<reason>.+) Whoever may start it can retry it\.$/],
  ["resumeIt", /^(?<reason>.+) Whoever may start its job can resume it\.$/],
  ["ownerMayNot", /^The user '(?<user>[^']+)', by whose rights it runs, may not start it any more\. (?<reason>.+)$/],
  ["nothingKnown", /^nothing is known of cluster '(?<cluster>[^']+)': (?<reason>.+)$/],
  ["readersUnknown", /^Which groups read topic '(?<topic>[^']+)' is not known: (?<reason>.+); with allow_live_target the job starts without knowing them$/],
  ["notSearched", /^(?<broker>\S+) was not searched: (?<reason>.+)$/],
]

const PEERS = [
  ["nameServer", /^name server (?<address>\S+)$/],
  ["nameServers", /^name servers (?<address>.+)$/],
  ["brokerAt", /^the broker at (?<address>\S+)$/],
  ["namedBroker", /^(?<name>\S+) at (?<address>\S+)$/],
  ["process", /^(?<name>\S+) (?<id>\d+)$/],
  ["cluster", /^the cluster$/],
] as const

/** A reason of the server in the language of the reader; one without a translation stays as it is. */
export function reasonIn(t: TFunction, reason: string): string {
  // Whole first: a "; " may belong to the sentence itself.
  return knownOf(t, reason) ?? partsOf(t, reason) ?? reason
}

const knownOf = (t: TFunction, reason: string) => knownReason(t, reason) ?? inChinese(t, reason)

/** Several reasons in one; null where none has a translation: Chinese marks between English words are none. */
function partsOf(t: TFunction, reason: string): string | null {
  const parts = reason.split("; ")
  const known = parts.map((part) => knownOf(t, part))
  return known.every((part) => part === null) ? null : known.map((part, index) => part ?? parts[index]).join(t("list.semicolon"))
}

/** A refusal of one of many says the same as that of a single one; its English is the server's own. */
const inChinese = (t: TFunction, reason: string) => (i18next.language === "zh" ? fragment(t, reason) : null)

function knownReason(t: TFunction, reason: string): string | null {
  for (const [key, pattern] of AROUND) {
    const found = pattern.exec(reason)?.groups
    if (found) return t(`reasons.${key}`, { ...found, reason: reasonIn(t, found.reason ?? "") })
  }
  for (const [key, pattern] of REASONS) {
    const match = pattern.exec(reason)
    const peer = match?.groups?.peer === undefined ? "" : peerIn(t, match.groups.peer)
    if (match && peer !== null) return t(`reasons.${key}`, { ...match.groups, ...spansOf(t, match.groups ?? {}), peer, count: Number(match.groups?.n ?? 0) })
  }
  return null
}

/** A sentence of the server in the language of the reader, as a whole or not at all: else marked as the words of the server. */
export const sentenceIn = (t: TFunction, language: string, sentence: string): string =>
  language === "zh" ? (knownReason(t, sentence) ?? t("problems.serverSays", { detail: sentence })) : sentence

/** Who it is about, by what stands before the verb as a whole; null for words that name nobody. */
function peerIn(t: TFunction, peer: string): string | null {
  for (const [key, pattern] of PEERS) {
    const match = pattern.exec(peer)
    if (match) return t(`reasons.peers.${key}`, { name: "", address: "", ...match.groups })
  }
  return /\s/.test(peer) ? null : peer
}

/** Of a setting of a broker: what was typed, and what it takes. */
const NOT_ACCEPTED = /^(?<quote>['"])(?<value>.*)\k<quote> is not (?<accepted>.+)$/

const THINGS = ["cluster", "group", "job", "schedule", "token", "user", "role", "session", "rule", "channel", "silence", "alert", "search"] as const
const KINDS = { "an object": "object", "a list": "list", "true or false": "bool", "a whole number": "whole", "a text": "text" } as const
const RIGHTS = ["produce", "consume", "read", "bodies", "manage", "offsets", "redrive", "delete", "jobs", "admin"] as const

function fragment(t: TFunction, detail: string): string | null {
  const words = detail.replace(/\.$/, "")
  for (const [key, pattern] of details) {
    const match = pattern.exec(words)
    if (match) return t(`details.${key}`, valuesOf(t, match.groups ?? {}))
  }
  for (const [key, pattern] of jobRefusals) {
    const match = pattern.exec(words)
    if (match) return t(`refusals.${key}`, valuesOf(t, match.groups ?? {}))
  }
  const decision = decided(t, words)
  if (decision !== null) return decision
  const { value, accepted } = NOT_ACCEPTED.exec(words)?.groups ?? {}
  const wanted = accepted === undefined ? null : knownReason(t, accepted)
  return wanted === null ? null : t("details.notAccepted", { value, accepted: wanted })
}

/** What a sentence names: things and rights by their words here, all else as it is. */
function valuesOf(t: TFunction, found: Record<string, string | undefined>) {
  const thing = THINGS.find((name) => name === found.thing?.toLowerCase())
  const right = RIGHTS.find((name) => name === found.right)
  return {
    ...found,
    ...spansOf(t, found),
    name: found.name ?? found.cluster ?? found.token ?? found.rule ?? found.other ?? found.search ?? "",
    wanted: found.wanted === undefined ? "" : t(`details.kinds.${KINDS[found.wanted as keyof typeof KINDS]}`),
    thing: thing ? t(`details.things.${thing}`) : (found.thing ?? ""),
    right: right ? t(`rights.${right}`) : (found.right ?? ""),
  }
}

/** The lengths of time that a sentence names, such as `1 day 4 h`. */
const spansOf = (t: TFunction, found: Record<string, string | undefined>) =>
  Object.fromEntries(["wait", "most"].map((name) => [name, found[name]?.replace(/(\d+) (day|h|min|s|ms)s?\b/g, (_, n: string, unit: "day" | "h" | "min" | "s" | "ms") => t(`details.spans.${unit}`, { count: Number(n) }))]))

/** A detail that has a translation: of one value, with its field before it where it is a sentence of its own, or a reason. */
function knownDetail(t: TFunction, detail: string): string | null {
  const known = fragment(t, detail)
  if (known !== null) return known
  const { field = "", rest = "" } = /^(?<field>[\w/.-]+)(?:: | (?=must ))(?<rest>.+)$/.exec(detail)?.groups ?? {}
  const part = rest === "" ? null : (fragment(t, rest) ?? knownReason(t, rest.replace(/\.$/, "")))
  if (part !== null) return t("details.ofField", { field, detail: part })
  const reason = reasonOf(detail)
  const translated = reasonIn(t, reason)
  return translated === reason ? null : t("problems.sentence", { reason: translated })
}

/** What the server says against one field, in the language of the reader, else marked as the words of the server. */
export function detailIn(t: TFunction, language: string, detail: string): string {
  return language === "zh" ? (knownDetail(t, detail) ?? t("problems.serverSays", { detail })) : detail
}

/**
 * A refusal in the language of the reader: its reason if that has a translation, else what kind it is and then the
 * sentence of the server, marked as such, which names thing and value.
 */
export function problemIn(t: TFunction, language: string, problem: Problem): string {
  const detail = problem.message
  if (language !== "zh") return detail
  const known = knownDetail(t, detail)
  if (known !== null) return known
  const kind = t(`problems.${problem.code}` as "problems.INTERNAL", { defaultValue: "" })
  return kind === "" ? t("problems.serverSays", { detail }) : t("problems.of", { kind, detail })
}

/** The reason that a sentence was made of; a name at its start keeps its capital. */
const reasonOf = (sentence: string) => sentence.replace(/\.$/, "").replace(/^(?:The|Name|No|Nothing|Another) /, (word) => word.toLowerCase())
