import { useTranslation } from "react-i18next"
import type { AuditEntry } from "@/lib/api-types"
import { shortId } from "@/lib/format"

const VERBS = ["create", "update", "delete", "start", "cancel", "retry", "run_now", "password", "login", "logout", "forget", "export", "session_end", "offsets", "undo_offsets", "acknowledge", "unacknowledge", "end", "send_again", "clone", "apply", "purge", "pause", "resume", "limits", "deliver_to", "resend_to", "test", "recall_from", "reschedule_in", "commit_in", "roll_back_in", "check_in", "promote", "adopt", "accept_loss_on", "policy_of"] as const
const NOUNS = ["topic", "group", "broker", "replay", "reconcile", "redrive", "export", "schedule", "token", "user", "cluster", "session", "audit", "role", "alert", "alert_rule", "alert_channel", "silence", "delivery", "search", "note", "definitions", "account", "global_addresses", "transaction_hook", "replica"] as const
/** What somebody asked for without the right, by the method of HTTP or the frame of a socket. */
const ASKED = ["get", "head", "options", "post", "put", "patch", "delete", "produce", "receive", "ack", "nack", "extend", "commit", "rollback", "send", "subscribe"] as const
export const RESULTS = ["ok", "refused", "failed", "partial"] as const

const pick = <T extends string>(known: readonly T[], word: string | undefined): T | undefined => known.find((name) => name === word)

const BY_ID: ReadonlySet<string> = new Set(["replay", "reconcile", "redrive", "export", "schedule"])

/** Of these there is only one, so it has no name. */
const NAMELESS: ReadonlySet<string> = new Set(["audit", "definitions", "global_addresses"])

/** Jobs and schedules are recorded by their ids, which are cut; a name never is. */
function nameOf(noun: string, resource: string): string {
  const parts = resource.split("/")
  // Of a change of offsets the topic comes last.
  const isBelowGroup = noun === "group" && parts.length > 3 && parts[1] === "groups"
  const name = (isBelowGroup ? parts[2] : parts.at(-1)) ?? resource
  if (noun === "replica" && parts.at(-2) === "replicas") return `${name} (${parts.at(-3) ?? ""})`
  return BY_ID.has(noun) ? shortId(name) : name
}

/** A job is run again, but a notice sent again; of a message the record names the group or the topic that has it. */
const OTHERWISE: Readonly<Record<string, readonly [string, string]>> = {
  "delivery.retry": ["delivery", "send_again"],
  "message.deliver": ["group", "deliver_to"],
  "message.resend": ["topic", "resend_to"],
  "message.recall": ["topic", "recall_from"],
  "message.reschedule": ["topic", "reschedule_in"],
  "transaction.commit": ["topic", "commit_in"],
  "transaction.rollback": ["topic", "roll_back_in"],
  "transaction.check": ["topic", "check_in"],
  "replica.accept_loss": ["replica", "accept_loss_on"],
  // These are of a broker name, not of one replica.
  "replica.adopt": ["broker", "adopt"],
  "replica.policy": ["broker", "policy_of"],
  "replica.remove": ["replica", "forget"],
}

/** A change of offsets that took another one back is recorded as one, with its mode. */
const isUndo = ({ action, after }: AuditEntry): boolean => action === "group.offsets" && isRecord(after) && after.mode === "undo"
const isRecord = (state: unknown): state is Record<string, unknown> => typeof state === "object" && state !== null

/** The words of the record in the language of the reader; what has no word of its own is said as it is recorded. */
export function useAuditWords() {
  const { t } = useTranslation()
  const parts = (action: string) => {
    const [noun, verb] = OTHERWISE[action] ?? action.split(".")
    return { noun: pick(NOUNS, noun), verb: pick(VERBS, verb) }
  }
  const result = (word: string): string => {
    const known = pick(RESULTS, word)
    return known ? t(`audit.results.${known}`) : word
  }
  const asked = (action: string) => (action.startsWith("access.") ? pick(ASKED, action.slice("access.".length)) : undefined)
  const action = (word: string): string => {
    const denied = asked(word)
    if (denied) return t("audit.withoutRight", { act: t(`audit.asked.${denied}`) })
    const { noun, verb } = parts(word)
    // Without its name, a Chinese noun has no space after it.
    return noun && verb ? t(`audit.acts.${verb}`, { what: t(`audit.nouns.${noun}`) }).replace(/(\p{Script=Han}) (?=\p{Script=Han})/gu, "$1") : word
  }
  /** "admin created topic orders"; of what did not happen, that it was tried and how it ended. */
  const sentence = (entry: AuditEntry): string => {
    const { noun, verb: recorded } = parts(entry.action)
    const verb = isUndo(entry) ? "undo_offsets" : recorded
    const { actor, resource } = entry
    const denied = asked(entry.action)
    if (denied) return t("audit.denied", { actor, act: t(`audit.asked.${denied}`), resource })
    if (!noun || !verb) return t("audit.did", { actor, action: entry.action, resource, result: result(entry.result) })
    const what = NAMELESS.has(noun) ? t(`audit.nouns.${noun}`) : t("audit.what", { noun: t(`audit.nouns.${noun}`), name: nameOf(noun, resource) })
    if (entry.result === "ok") return t(`audit.verbs.${verb}`, { actor, what })
    return t("audit.attempt", { actor, act: t(`audit.acts.${verb}`, { what }), result: result(entry.result) })
  }
  return { action, result, sentence }
}
