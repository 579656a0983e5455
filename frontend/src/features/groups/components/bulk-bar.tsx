import { Button } from "@mantine/core"
import { IconPlayerPause, IconPlayerPlay, IconTrash } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FilterDivider, FilterRow } from "@/components/data-table/table-tools"
import { NeedsRight } from "@/components/forms/lock"
import type { GroupAction } from "@/lib/api-types"
import { count } from "@/lib/format"
import { BulkChange } from "./bulk-change"

/** How many groups the API changes by one request. */
const MOST = 200

const ICONS = {
  pause: <IconPlayerPause size={15} stroke={1.6} />,
  resume: <IconPlayerPlay size={15} stroke={1.6} />,
  delete: <IconTrash size={15} stroke={1.6} />,
}

interface BulkBarProps {
  cluster: string
  chosen: ReadonlySet<string>
  shown: readonly string[]
  onChoose: (names: readonly string[]) => void
}

/** What can be done with the chosen groups; it stands where the filters stand. */
export function BulkBar({ cluster, chosen, shown, onChoose }: BulkBarProps) {
  const { t } = useTranslation()
  const [action, setAction] = useState<GroupAction | null>(null)
  const isTooMany = chosen.size > MOST
  return (
    <FilterRow>
      <b aria-live="polite">{t("groupBulk.chosen", { count: chosen.size, n: count(chosen.size) })}</b>
      <Button variant="subtle" disabled={chosen.size >= shown.length} onClick={() => onChoose(shown)}>
        {t("groupBulk.all", { n: count(shown.length) })}
      </Button>
      <Button variant="subtle" onClick={() => onChoose([])}>
        {t("groupBulk.none")}
      </Button>
      <FilterDivider />
      {(["pause", "resume", "delete"] as const).map((each) => (
        <NeedsRight key={each} right={each === "delete" ? "delete" : "manage"}>
          <Button disabled={isTooMany} leftSection={ICONS[each]} onClick={() => setAction(each)} {...(each === "delete" && { "data-danger": true })}>
            {t(`groupBulk.${each}`)}
          </Button>
        </NeedsRight>
      ))}
      {isTooMany && <small>{t("groupBulk.tooMany", { n: count(MOST) })}</small>}
      {action && <BulkChange cluster={cluster} action={action} groups={[...chosen]} onClose={() => setAction(null)} onLeft={onChoose} />}
    </FilterRow>
  )
}
