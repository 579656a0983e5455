import { Button } from "@mantine/core"
import { IconArrowsExchange, IconPlayerPause, IconPlayerPlay, IconTrash } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FilterDivider, FilterRow } from "@/components/data-table/table-tools"
import { NeedsRight } from "@/components/forms/lock"
import type { GroupAction } from "@/lib/api-types"
import { count } from "@/lib/format"
import { BulkChange } from "./bulk-change"
import { MoveOffsets } from "./move-offsets"

/** How many groups the API changes by one request. */
const MOST = 200
/** How many groups it moves to other offsets. */
const MOST_MOVED = 50

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
  const [action, setAction] = useState<GroupAction | "move" | null>(null)
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
      <NeedsRight right="offsets">
        <Button disabled={chosen.size > MOST_MOVED} title={chosen.size > MOST_MOVED ? t("groupBulk.tooMany", { n: count(MOST_MOVED) }) : ""} leftSection={<IconArrowsExchange size={15} stroke={1.6} />} onClick={() => setAction("move")}>
          {t("groupOffsets.open")}
        </Button>
      </NeedsRight>
      {isTooMany && <small>{t("groupBulk.tooMany", { n: count(MOST) })}</small>}
      {action === "move" && <MoveOffsets cluster={cluster} groups={[...chosen]} onClose={() => setAction(null)} />}
      {action && action !== "move" && <BulkChange cluster={cluster} action={action} groups={[...chosen]} onClose={() => setAction(null)} onLeft={onChoose} />}
    </FilterRow>
  )
}
