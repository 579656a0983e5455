import { IconCircleCheck, IconCircleX } from "@tabler/icons-react"
import { Badge } from "@/components/badges/badge"

const GOOD = new Set(["ok", "done", "success", "succeeded", "allowed"])

/** How it ended, in the words of the record. */
export function AuditResult({ result }: { result: string }) {
  const isGood = GOOD.has(result.toLowerCase())
  return (
    <Badge tone={isGood ? "quiet" : "crit"} icon={isGood ? IconCircleCheck : IconCircleX}>
      {result}
    </Badge>
  )
}
