import { Tooltip } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { reasonIn } from "@/lib/reasons"
import { Unknown } from "./num"
import classes from "./values.module.css"

interface LastKnownProps {
  /** The figure as it was measured last, already written; absent when it never was. */
  children?: string | undefined
  at: string | null | undefined
  /** Why it is not known now. */
  reason?: string | null | undefined
}

/** A figure that is not known now: what it was, in grey and with its age; the hatch alone where it never was measured. */
export function LastKnown({ children, at, reason }: LastKnownProps) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow()
  if (children === undefined || !at) return <Unknown reason={reason} />
  const age = format.duration(Math.max(1_000, now - Date.parse(at)))
  const why = reason ? reasonIn(t, reason) : t("states.unknown")
  return (
    <Tooltip label={why}>
      <span className={classes.was} tabIndex={0} role="img" aria-label={t("states.wasKnown", { value: children, age, reason: why })}>
        {children}
        <small>{t("states.ago", { age })}</small>
      </span>
    </Tooltip>
  )
}

const OLD_MS = 30_000

/** The age of a figure that is shown as known but was read a while ago; nothing while it is fresh. */
export function MeasuredAge({ at }: { at: string | null }) {
  const { t } = useTranslation()
  const format = useFormat()
  const now = useNow(5_000)
  if (at === null || now - Date.parse(at) < OLD_MS) return null
  return <small className={classes.age}>{t("states.ago", { age: format.duration(now - Date.parse(at)) })}</small>
}
