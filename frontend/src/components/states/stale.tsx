import { Button } from "@mantine/core"
import { useQueryClient } from "@tanstack/react-query"
import { IconAlertTriangle, IconClockHour4, IconPlugConnectedX } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { useFormat, useLanguage } from "@/hooks/use-format"
import { live } from "@/lib/live"
import { asProblem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import classes from "./states.module.css"

export function StaleBadge({ ageMs }: { ageMs: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  return (
    <Badge tone="warn" icon={IconClockHour4}>
      {t("states.old", { age: format.duration(ageMs) })}
    </Badge>
  )
}

/** Since when nothing new came, and a way to ask again. */
export function StaleNotice({ at }: { at: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const cache = useQueryClient()
  return (
    <div className={classes.notice} role="status">
      <IconPlugConnectedX size={15} stroke={1.6} aria-hidden />
      <span>{t("states.stale", { time: format.clock(at) })}</span>
      <Button
        size="xs"
        onClick={() => {
          live.reconnect()
          void cache.invalidateQueries()
        }}
      >
        {t("actions.reconnect")}
      </Button>
    </div>
  )
}

/** That the last try to read it failed, above what was read before. */
export function NotRenewed({ what, error, at }: { what: string; error: Error; at: number }) {
  const { t } = useTranslation()
  const format = useFormat()
  const language = useLanguage()
  return (
    <div className={classes.notice} role="status">
      <IconAlertTriangle size={15} stroke={1.6} aria-hidden />
      <span>{t("states.notRenewed", { what, reason: problemIn(t, language, asProblem(error)), time: format.clock(at) })}</span>
    </div>
  )
}
