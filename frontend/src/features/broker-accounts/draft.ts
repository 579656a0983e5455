import type { BrokerAccount, BrokerAccountInput } from "@/lib/api-types"

export const RIGHTS = ["DENY", "PUB", "SUB", "PUB|SUB"] as const
export type AccessRight = (typeof RIGHTS)[number]

/** One named right while it is edited. */
export interface NamedRight {
  id: number
  name: string
  right: AccessRight
}

/** What the form holds of an account. */
export interface AccountDraft {
  admin: boolean
  whiteAddress: string
  defaultTopic: AccessRight
  defaultGroup: AccessRight
  topics: NamedRight[]
  groups: NamedRight[]
}

export const NOTHING: AccountDraft = { admin: false, whiteAddress: "", defaultTopic: "DENY", defaultGroup: "DENY", topics: [], groups: [] }

/** What a file of RocketMQ calls a right otherwise is none. */
const rightOf = (text: string): AccessRight => RIGHTS.find((right) => right === text) ?? "DENY"

const namedRights = (rights: Readonly<Record<string, string>>): NamedRight[] => Object.entries(rights).map(([name, right], id) => ({ id, name, right: rightOf(right) }))

export const draftOf = (account: BrokerAccount): AccountDraft => ({
  admin: account.admin,
  whiteAddress: account.white_address,
  defaultTopic: rightOf(account.default_topic_permission),
  defaultGroup: rightOf(account.default_group_permission),
  topics: namedRights(account.topic_permissions),
  groups: namedRights(account.group_permissions),
})

/** Brokers with other rights as far as is known: of those with another secret nothing else is told. */
export const otherRights = ({ differs_on: differing, secret_differs_on: others }: BrokerAccount): string[] => differing.filter((broker) => !others.includes(broker))

const byName = (rights: NamedRight[]): Record<string, AccessRight> =>
  Object.fromEntries(rights.filter(({ name }) => name.trim() !== "").map(({ name, right }) => [name.trim(), right]))

/** The fields that the API takes. */
export const fieldsOf = (draft: AccountDraft): Omit<BrokerAccountInput, "access_key"> => ({
  admin: draft.admin,
  white_address: draft.whiteAddress.trim(),
  default_topic_permission: draft.defaultTopic,
  default_group_permission: draft.defaultGroup,
  topic_permissions: byName(draft.topics),
  group_permissions: byName(draft.groups),
})

/** How the API points to a named right; a pointer writes these two characters otherwise (RFC 6901). */
export const fieldOf = (kind: "topic" | "group", name: string): string => `${kind}_permissions.${name.trim().replaceAll("~", "~0").replaceAll("/", "~1")}`

/** The fields of the form that can be marked: what is said of them needs no toast. */
export const markedOf = (draft: AccountDraft): string[] => [
  "white_address",
  ...draft.topics.map(({ name }) => fieldOf("topic", name)),
  ...draft.groups.map(({ name }) => fieldOf("group", name)),
]

/** A name twice in one list would keep only its last right. */
export const namesTwice = (rights: NamedRight[]): string[] => {
  const names = rights.map(({ name }) => name.trim()).filter((name) => name !== "")
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))]
}
