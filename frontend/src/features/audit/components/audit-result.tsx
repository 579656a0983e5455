import { IconCircleCheck, IconCircleX, IconRefreshAlert } from "@tabler/icons-react"
import { Badge } from "@/components/badges/badge"
import { useAuditWords } from "../use-sentence"

const GOOD = new Set(["ok", "done", "success", "succeeded", "allowed"])

/** How it ended. */
export function AuditResult({ result }: { result: string }) {
  const words = useAuditWords()
  const isGood = GOOD.has(result.toLowerCase())
  return (
    <Badge tone={isGood ? "quiet" : result === "partial" ? "warn" : "crit"} icon={isGood ? IconCircleCheck : result === "partial" ? IconRefreshAlert : IconCircleX}>
      {words.result(result)}
    </Badge>
  )
}
