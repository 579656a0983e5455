import { IconCircleCheckFilled, IconCircleHalf2, IconCircleMinus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { useFormat } from "@/hooks/use-format"
import type { KeyLookup } from "@/lib/api-types"
import { count } from "@/lib/format"
import { reasonIn } from "@/lib/reasons"
import classes from "./messages.module.css"

const ICONS = { match: IconCircleCheckFilled, no_match: IconCircleMinus, partial: IconCircleHalf2, failed: IconCircleMinus } as const
const COLORS = { match: "var(--ok)", no_match: "var(--ink-2)", partial: "var(--warn)", failed: "var(--crit)" } as const

/** How many of the keys were found; those without a message, and those that were not looked up everywhere, by name. */
export function KeysBar({ answer: { verdict, complete, found, missing, partial, searched } }: { answer: KeyLookup }) {
  const { t } = useTranslation()
  const format = useFormat()
  const Icon = ICONS[verdict]
  const asked = new Set([...found.map(({ key }) => key), ...missing, ...partial.map(({ key }) => key)]).size
  const withMore = found.filter(({ has_more: more }) => more).map(({ key }) => key)
  const tones = { complete: "ok", partial: "warn", more: "grey" } as const
  const kind = !complete ? "partial" : withMore.length > 0 ? "more" : "complete"
  return (
    <div className={classes.verdict} role="status">
      <div className={classes.verdictHead}>
        <Icon size={16} stroke={1.6} color={COLORS[verdict]} aria-hidden />
        <b>{t("find.keysFound", { n: count(found.length), of: count(asked) })}</b>
        <Badge tone={tones[kind]}>{t(`verdict.${kind}`)}</Badge>
        <span className="micro">{format.milliseconds(searched.elapsed_ms)}</span>
      </div>
      <Keys words={t("find.keysMissing")} keys={missing} />
      <Keys words={t("find.keysMore")} keys={withMore} />
      {partial.length > 0 && (
        <Keys words={t("find.keysPartial", { reason: reasonIn(t, partial[0]?.reason ?? "") })} keys={partial.map(({ key }) => key)} />
      )}
    </div>
  )
}

const SHOWN = 40

function Keys({ words, keys }: { words: string; keys: string[] }) {
  if (keys.length === 0) return null
  return (
    <p className={classes.words}>
      {words}
      <span className="mono">{keys.slice(0, SHOWN).join(" ")}</span>
      {keys.length > SHOWN && ` +${count(keys.length - SHOWN)}`}
    </p>
  )
}
