import { IconCircleCheckFilled, IconCircleHalf2, IconCircleMinus, IconCircleX } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge, type Tone } from "@/components/badges/badge"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import type { MessageSearch } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import classes from "./messages.module.css"

const ICONS = {
  match: { icon: IconCircleCheckFilled, color: "var(--ok)" },
  no_match: { icon: IconCircleMinus, color: "var(--ink-2)" },
  partial: { icon: IconCircleHalf2, color: "var(--warn)" },
  failed: { icon: IconCircleX, color: "var(--crit)" },
} as const

interface VerdictBarProps {
  answer: MessageSearch
  /** How many matches all pages hold so far. */
  matches: number
}

/** What the search found, and how much it read to be sure. No match is a complete answer too. */
export function VerdictBar({ answer, matches }: VerdictBarProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const { verdict, searched } = answer
  const { icon: Icon, color } = ICONS[verdict]
  const missing = answer.missing ?? []
  const tones = { failed: "crit", complete: "ok", partial: "warn", more: "grey" } as const satisfies Record<string, Tone>
  const kind = kindOf(answer)
  return (
    <div className={classes.verdict} role="status">
      <div className={classes.verdictHead}>
        <Icon size={16} stroke={1.6} color={color} aria-hidden />
        <b>{t(`verdict.${verdict}`, { count: matches, n: count(matches) })}</b>
        <Badge tone={tones[kind]}>{t(`verdict.${kind}`)}</Badge>
        <span className={classes.words}>{useWords(answer)}</span>
        <span className="micro">{format.milliseconds(searched.elapsed_ms)}</span>
      </div>
      {missing.map(({ broker, reason }) => (
        <p key={broker} className={classes.words}>
          {t("verdict.missing", { broker, reason: reasonIn(t, reason) })}
        </p>
      ))}
      <Coverage answer={answer} />
    </div>
  )
}

/** Partial is a search that left something unread; that there are more pages of matches is another thing. */
function kindOf({ verdict, complete, next_cursor: cursor }: MessageSearch): "failed" | "partial" | "more" | "complete" {
  if (verdict === "failed" || verdict === "partial") return verdict
  if (cursor !== null) return "more"
  return complete ? "complete" : "partial"
}

function useWords({ verdict, complete, searched, missing }: MessageSearch): string {
  const { t } = useTranslation()
  const { index_files: files, entries_visited: entries, collisions_dropped: collisions, expired_messages: expired } = searched
  if (files === null) return missing?.length ? "" : t("verdict.notTold")
  if (verdict === "no_match" && complete) return t("verdict.notThere", { count: files, n: count(files) })
  const words = [t("verdict.files", { count: files, n: count(files) })]
  if (entries !== null) words.push(t("verdict.entries", { count: entries, n: count(entries) }))
  if (collisions) words.push(t("verdict.collisions", { count: collisions, n: count(collisions) }))
  if (expired) words.push(t("verdict.expired", { count: expired, n: count(expired) }))
  return words.join(t("list.comma"))
}

const MOST_BLOCKS = 40

/** The blocks of the range, the oldest first. */
function blocksOf(answer: MessageSearch): string[] {
  const { searched, complete, verdict } = answer
  const isOfSlave = (answer.from_slaves ?? []).length > 0
  // A broker that was not searched lacks over the whole range, not in a part of it, and a slave at its end.
  const isWholeRangeRead = verdict === "partial" && (isOfSlave || (answer.missing ?? []).length > 0) && answer.next_cursor === null
  const last = verdict === "failed" ? ["failed"] : isOfSlave ? ["newest"] : []
  return [
    ...new Array<string>(Math.min(searched.index_files_skipped_by_time ?? 0, MOST_BLOCKS)).fill("skipped"),
    ...(complete || verdict === "failed" || isWholeRangeRead ? [] : ["left"]),
    ...new Array<string>(Math.min(searched.index_files ?? 0, MOST_BLOCKS)).fill("searched"),
    ...last,
  ]
}

/** One block for each index file, the oldest left: skipped by time, left over, or searched; a slave may lack some at the newest end. */
function Coverage({ answer }: { answer: MessageSearch }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow(60_000)
  const { searched } = answer
  const { index_files: files, index_files_skipped_by_time: skipped } = searched
  if (files === null || files + (skipped ?? 0) === 0) return null
  const isUntilNow = Math.abs(now - Date.parse(searched.to)) < 120_000
  return (
    <>
      <div className={classes.blocks} aria-hidden>
        {blocksOf(answer).map((kind, index) => (
          <span key={index} data-kind={kind} />
        ))}
      </div>
      <div className={classes.ends}>
        <span>{skipped ? t("verdict.skipped", { count: skipped, n: count(skipped), time: format.when(searched.from) }) : format.when(searched.from)}</span>
        <span>{isUntilNow ? t("time.present") : format.when(searched.to)}</span>
      </div>
    </>
  )
}
