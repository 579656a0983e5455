import type { TFunction } from "i18next"
import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { Replica } from "@/lib/api-types"
import { bytes, count } from "@/lib/format"

type Held = NonNullable<Replica["held"]>

const ADVICE = { ahead: "folder", apart: "folder", damaged: "damaged", replaced: "replaced", removed: "removed" } as const

const nameIn = <Names extends Record<string, string>>(names: Names, code: string): Names[keyof Names] | undefined => (code in names ? names[code as keyof Names] : undefined)

/** Each replica that does not come back by itself: what its log has that the master lacks, and what to do. */
export function HeldReplicas({ replicas }: { replicas: readonly Replica[] }) {
  const { t } = useTranslation()
  return replicas.map(
    ({ broker_id: id, address, log_end: end, held }) =>
      held && (
        <Callout key={id} tone="crit">
          {t("replicas.held.who", { id, address })} {whyIn(t, held, end)} {t(`replicas.held.todo.${nameIn(ADVICE, held.code) ?? "other"}`)}
        </Callout>
      ),
  )
}

function whyIn(t: TFunction, { code, reason, common_end: common, more_bytes: more }: Held, end: number | null): string {
  if (code === "ahead" && common !== null && more !== null && end !== null) return t("replicas.held.aheadWords", { end: count(end), common: count(common), more: bytes(more) })
  return t("replicas.held.says", { reason })
}
