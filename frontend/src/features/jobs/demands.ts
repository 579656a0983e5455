import type { Demand } from "@/hooks/use-right-on"
import type { JobRequest } from "@/lib/api-types"
import { showsContents } from "./export-columns"
import { type Side, SIDES } from "./sides"

type On = Pick<Demand, "kind" | "name">

const topicOf = ({ topic }: { topic?: string | undefined }): On => ({ kind: "topic", name: topic || undefined })
const WHOLE: On = { kind: "topic", name: undefined }

/** The rights that the server asks for when a job starts, beside that on its type; each one once. */
export function demandsOf(request: JobRequest): Demand[] {
  const all = request.type === "reconcile" ? ofSides(request) : ofSource(request)
  return all.filter(({ right, kind, name }, index) => all.findIndex((other) => other.right === right && other.kind === kind && other.name === name) === index)
}

function ofSource({ type, source = { topic: "" }, target, columns }: JobRequest): Demand[] {
  const tells = type === "replay" || Boolean(source.where) || Boolean(columns?.some(showsContents))
  return [
    { right: "read", ...topicOf(source) },
    ...(tells ? [{ right: "bodies" as const, ...topicOf(source) }] : []),
    // A file of keys may be any file.
    ...(source.keys_file ? [{ right: "bodies" as const, ...WHOLE }] : []),
    ...(target && target.kind !== "parquet" ? [{ right: "produce" as const, ...topicOf(target) }] : []),
  ]
}

function ofSides(request: JobRequest): Demand[] {
  if (request.check) return [{ right: "read", ...WHOLE }]
  const tells = tellsContents(request)
  return SIDES.flatMap((name) => ofSide(request[name] ?? {}, tells))
}

function ofSide(side: Partial<Side>, tells: boolean): Demand[] {
  if (side.path ?? side.connection) return [{ right: "bodies", ...WHOLE }]
  return [
    { right: "read", ...topicOf(side) },
    ...(tells ? [{ right: "bodies" as const, ...topicOf(side) }] : []),
    ...(side.group ? [{ right: "read" as const, kind: "group" as const, name: side.group }] : []),
  ]
}

/** Whether a report tells what stands in messages: bodies, properties, and all that an expression or a condition reads. */
function tellsContents({ by, compare = "body", left, right }: JobRequest): boolean {
  const compared = typeof compare === "string" ? [compare] : compare
  return by === "body" || typeof by === "object" || Boolean(left?.where) || Boolean(right?.where) || !compared.every((field) => field === "none" || field === "tag" || field === "keys")
}
