import type { TFunction } from "i18next"
import type { decisions } from "@/locales/en/decisions"

type DecisionKey = keyof (typeof decisions)["decisions"]

/** What controllers and replicas say of their decisions, and of those that they refuse; what else they say stays as it is. */
export const DECISIONS: readonly [DecisionKey, RegExp][] = [
  // Why a state was written
  ["killed", /^killed$/],
  ["silent", /^silent$/],
  ["restarted", /^restarted$/],
  ["byHand", /^by hand$/],
  ["noMaster", /^without master$/],
  ["policy", /^policy$/],
  ["isNew", /^replica (?<id>\d+) is new$/],
  ["isFirst", /^replica (?<id>\d+) is the first$/],
  ["uncleanAlone", /^replica (?<id>\d+) started unclean, alone in the in-sync set$/],
  ["unclean", /^replica (?<id>\d+) started unclean$/],
  ["started", /^replica (?<id>\d+) started$/],
  ["joinedAndLeft", /^replicas? (?<joined>[\d, ]+) joined and replicas? (?<left>[\d, ]+) left the in-sync set$/],
  ["joined", /^replicas? (?<joined>[\d, ]+) joined the in-sync set$/],
  ["left", /^replicas? (?<left>[\d, ]+) left the in-sync set$/],
  ["removed", /^replicas? (?<ids>[\d, ]+) removed$/],
  ["lossAccepted", /^loss accepted, replica (?<id>\d+) is master$/],
  ["healed", /^healed after it was set back$/],
  ["adoptedBy", /^adopted with (?<ids>[\d, ]+) by (?<user>.+)$/],
  ["adopted", /^adopted with (?<ids>[\d, ]+)$/],
  // Why sends are refused, or nobody is master
  ["notElected", /^no master is elected$/],
  ["tooFew", /^the in-sync set has (?<n>\d+) of (?<least>\d+) replicas that sends need$/],
  ["masterSilent", /^the master, replica (?<id>\d+), does not tell$/],
  ["noRole", /^this replica does not know its role yet$/],
  ["notMaster", /^this replica is not (?:the )?master$/],
  ["switching", /^a switch to another replica is under way$/],
  ["tooFewForSetting", /^fewer replicas are in sync than minInSyncReplicas asks for$/],
  ["noLease", /^the controllers are out of reach, and so is a replica of the in-sync set$/],
  ["unconfirmed", /^too much waits for the other replicas$/],
  ["noRoom", /^the disk has no room for what this replica is told$/],
  ["setBackLease", /^the controllers decide nothing while their state is set back, and a replica of the in-sync set is out of reach$/],
  ["stalled", /^sends are stored, but not confirmed: the oldest waits for (?<s>\d+) s for the in-sync set$/],
  ["aheadOfMaster", /^the master has this log up to (?<common>\d+) only, but every replica had it up to (?<confirmed>\d+)$/],
  ["awayFolder", /^replica (?<id>\d+) does not join by itself: keep a copy of its folder, remove it, empty the folder and start it again$/],
  ["away", /^replica (?<id>\d+) does not join by itself: .+$/],
  ["noneInSync", /^[Nn]o replica of (?<name>\S+) is known to have every acknowledged message$/],
  ["noneHeard", /^[Nn]one of those that have every acknowledged message of (?<name>\S+) is heard: (?<ids>[\d, ]+)$/],
  ["notRegistered", /^(?<ids>[\d, ]+) of (?<name>\S+) has not registered since it started$/],
  ["mayHaveLost", /^(?<ids>[\d, ]+) of (?<name>\S+) may have lost acknowledged messages when its machine stopped$/],
  ["adoptedAwaited", /^[Rr]eplica (?<id>\d+) of (?<name>\S+) was adopted and has not registered yet$/],
  ["engineSilent", /^[Ww]hat keeps the controllers' decisions does not answer them$/],
  // Of one replica
  ["successor", /^replica (?<id>\d+) is at its address now$/],
  ["noMasterItself", /^(?<name>\S+) at (?<address>\S+) does not call itself master$/],
  // What a change would do
  ["mayLose", /^with unclean elections allowed a replica may be made master that lacks acknowledged messages: these are lost then$/],
  ["loses", /^messages that were acknowledged and that replica (?<id>\d+) does not have are lost$/],
  ["stopIt", /^whoever was master may still acknowledge messages if it is only cut off: make sure that its process has stopped$/],
  // Why a change is refused
  ["noReplica", /^(?<name>\S+) has no replica (?<id>\d+)$/],
  ["lives", /^[Rr]eplica (?<id>\d+) of (?<name>\S+) lives: stop it first$/],
  ["isMaster", /^[Rr]eplica (?<id>\d+)(?: is the master of \S+(?: in epoch \d+)?| of \S+ is master| is master)$/],
  ["lastInSync", /^[Nn]o other replica of (?<name>\S+) is known to have every acknowledged message$/],
  ["tooFewLeft", /^(?<name>\S+) would have (?<n>\d+) replicas, but takes messages only with (?<least>\d+) in sync$/],
  ["leastOutside", /^(?<name>\S+) has (?<most>\d+) replicas, so min_in_sync is 1 to \d+, not (?<value>\d+)$/],
  ["noLoss", /^[Nn]othing need be lost: replica (?<id>\d+) of (?<name>\S+) has every acknowledged message$/],
  ["notHeard", /^[Rr]eplica (?<id>\d+) of (?<name>\S+) is not heard(?: in the life that it registered|: start it, or go on without it)$/],
  ["notInSync", /^[Rr]eplica (?<id>\d+)(?: of \S+ may lack acknowledged messages: it)? is not in sync$/],
  ["handingOver", /^[Aa] hand-over to replica (?<id>\d+) is under way$/],
  ["notConnected", /^[Rr]eplica (?<id>\d+) is not connected to the master$/],
  ["notCaughtUp", /^[Rr]eplica (?<id>\d+) did not get the whole log in (?<ms>\d+) ms$/],
  ["noneNamed", /^[Nn]o replica is named(?: to go on from)?$/],
  ["notSetBack", /^[Tt]he state of (?<name>\S+) was not set back$/],
  ["setBack", /^(?:[Tt]he state of (?<name>\S+) was set back|(?<broker>\S+): the controllers' state was set back, .+)$/],
  ["unknownName", /^(?<name>\S+) is not known here$/],
  ["noIdTaken", /^[Nn]o replica of (?<name>\S+) ever took an id$/],
  ["otherCluster", /^[Tt]his controller is of cluster (?<own>\S+) \(controllerClusterName\), not of (?<cluster>\S+)$/],
  ["notLeading", /^[Tt]his controller does not lead(?:, (?<leader>\S+) does)?$/],
  ["notRead", /^[Tt]his controller has not read its decisions yet$/],
  ["busy", /^(?<name>\S+) is changed by others all the time: try again$/],
  ["unsettled", /^[Ii]t is not known whether this was decided: .+$/],
  ["otherDecision", /^Something else is decided about (?<name>\S+) since the preview; preview again$/],
]

/** A sentence of a controller in the language of the reader; null for one without a translation. */
export function decisionIn(t: TFunction, sentence: string): string | null {
  for (const [key, pattern] of DECISIONS) {
    const match = pattern.exec(sentence)
    if (match) return t(`decisions.${key}`, { ...match.groups, name: match.groups?.name ?? match.groups?.broker ?? "" })
  }
  return null
}

/** Whether sends are not refused, but stored without an answer. */
export const isStoredOnly = (reason: string): boolean => reason.startsWith("sends are stored")

/** Why a state was written, in words for people: the controllers' own words where there are no others. */
export const whyIn = (t: TFunction, why: string): string => decisionIn(t, why) ?? why
