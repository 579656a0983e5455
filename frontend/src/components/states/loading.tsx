import { type ReactNode, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { useOutage } from "@/hooks/use-outage"
import { reasonIn } from "@/lib/reasons"
import { Empty } from "./empty"

// What does not need a broker is here long before.
const PATIENCE_MS = 1_000

/** Bars while it is read; while no broker can answer, soon that it is not known, and why. */
export function Loading({ skeleton }: { skeleton: ReactNode }) {
  const { t } = useTranslation()
  const outage = useOutage()
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), PATIENCE_MS)
    return () => window.clearTimeout(timer)
  }, [])
  return isLate && outage !== null ? <Empty small title={t("states.unknown")} next={reasonIn(t, outage)} /> : skeleton
}
