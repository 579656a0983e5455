import type { UrlState } from "@/hooks/use-url-state"
import type { Job, RedriveAsked } from "@/lib/api-types"

type Redrive = Partial<RedriveAsked> & { group?: string }

const listed = (words: readonly string[] | undefined): string | undefined => (words?.length ? words.join(" ") : undefined)

/** The form of a stored redrive: the words of the address that its wizard reads, and the fields that it could not send back. */
export function redriveFormOf(request: Job["request"]): { state: UrlState; lost: string[] } {
  const { group, filter = {}, target, limits, originals, allow_live_target: live, ...rest } = request as Redrive
  const { causes, topics, ids, key, from, to, ...chosen } = filter
  const state = {
    group,
    causes: causes?.length ? JSON.stringify(causes) : undefined,
    origins: listed(topics),
    ids: listed(ids),
    key,
    from,
    to,
    send: target?.to,
    topic: target?.topic,
    rate: limits?.messages_per_second?.toString(),
    max: limits?.max_messages?.toString(),
    minutes: limits?.max_minutes?.toString(),
    originals: originals === "kept" ? originals : undefined,
    allow: live ? "yes" : undefined,
  }
  const lost = [...Object.keys(rest).filter((name) => !KNOWN.has(name)), ...Object.keys(chosen)]
  return { state: Object.fromEntries(Object.entries(state).filter(([, word]) => word !== undefined)), lost }
}

/** What a redrive has by where and how it was started. */
const KNOWN: ReadonlySet<string> = new Set(["type", "cluster", "name", "dry_run"])
