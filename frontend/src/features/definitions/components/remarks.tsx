import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { DefinitionRemark } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"

const SHOWN = 20

/** What a file of definitions does not have, or not exactly. */
export function Remarks({ remarks }: { remarks: DefinitionRemark[] }) {
  const { t } = useTranslation()
  if (remarks.length === 0) return null
  return (
    <Callout>
      <ul>
        {remarks.slice(0, SHOWN).map(({ code, section, cluster, name, text }) => (
          <li key={`${code} ${section} ${cluster} ${name} ${text}`}>
            {[cluster, t(`definitions.sections.${section}`), name].filter(Boolean).join(" · ")}: {t(`definitions.remarks.${code}`, { reason: reasonIn(t, text) })}
          </li>
        ))}
        {remarks.length > SHOWN && <li>{t("definitions.moreRemarks", { count: remarks.length - SHOWN })}</li>}
      </ul>
    </Callout>
  )
}
