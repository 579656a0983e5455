import { IconHandStop } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import type { Replica } from "@/lib/api-types"
import { Badge } from "./badge"

const SHORT = { ahead: "ahead", apart: "apart", damaged: "damaged", replaced: "replaced", removed: "removed", refused: "refused" } as const

/** The state of a replica that takes no part by itself: it answers, and still will never catch up. */
export function HeldState({ held: { code }, className }: { held: NonNullable<Replica["held"]>; className?: string | undefined }) {
  const { t } = useTranslation()
  return (
    <Badge tone="crit" icon={IconHandStop}>
      <span className={className}>{t(`replicas.held.${code in SHORT ? SHORT[code as keyof typeof SHORT] : "other"}`)}</span>
    </Badge>
  )
}
