import { useTranslation } from "react-i18next"
import type { AbilityName } from "@/hooks/use-ability"
import { Empty } from "./empty"

/** The chosen cluster cannot do this: no fault, and nothing that another try would mend. */
export function Lacking({ ability }: { ability: AbilityName }) {
  const { t } = useTranslation()
  return (
    <div role="note">
      <Empty title={t("abilities.lacks", { ability: t(`abilities.things.${ability}`) })} next={t(`abilities.lacking.${ability}`)} />
    </div>
  )
}
