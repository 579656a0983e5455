import { expect, it } from "vitest"
import { scopesOf } from "./scopes"

it.each([
  [["produce", "read"], "", "", ["produce", "read"]],
  [["produce", "jobs"], "orders-* billing", "", ["produce:orders-*", "produce:billing", "jobs"]],
  [["consume"], "orders", "billing*, risk", ["consume:orders@billing*", "consume:orders@risk"]],
  [["consume", "read"], "", "billing", ["consume:*@billing", "read"]],
])("makes %j on %j with groups %j the scopes %j", (verbs, topics, groups, scopes) => expect(scopesOf(verbs, topics, groups)).toEqual(scopes))
