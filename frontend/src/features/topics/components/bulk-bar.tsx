import { Button } from "@mantine/core"
import { IconAdjustments, IconTrash } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FilterDivider, FilterRow } from "@/components/data-table/table-tools"
import { NeedsRight } from "@/components/forms/lock"
import { chosenTopics, MAX_CHOSEN } from "../chosen-topics"
import { ChangeTopics } from "./change-topics"
import { DeleteTopics } from "./delete-topics"

interface BulkBarProps {
  cluster: string
  chosen: readonly string[]
  /** The names that the list shows. */
  shown: readonly string[]
}

/** What can be done with the ticked topics; it stands where the filters stand. */
export function BulkBar({ cluster, chosen, shown }: BulkBarProps) {
  const { t } = useTranslation()
  const [open, setOpen] = useState<"change" | "delete" | null>(null)
  const clear = () => chosenTopics.set([])
  const all = [...new Set([...chosen, ...shown])].slice(0, MAX_CHOSEN)
  const close = () => setOpen(null)
  return (
    <>
      <FilterRow>
        <b aria-live="polite">{t("bulkTopics.chosen", { count: chosen.length })}</b>
        <Button variant="subtle" disabled={all.length === chosen.length} onClick={() => chosenTopics.set(all)}>
          {t("bulkTopics.chooseShown", { n: all.length })}
        </Button>
        <Button variant="subtle" onClick={clear}>
          {t("bulkTopics.clear")}
        </Button>
        <FilterDivider />
        <NeedsRight right="manage">
          <Button leftSection={<IconAdjustments size={15} stroke={1.6} />} onClick={() => setOpen("change")}>
            {t("bulkTopics.change")}
          </Button>
        </NeedsRight>
        <NeedsRight right="delete">
          <Button data-danger leftSection={<IconTrash size={15} stroke={1.6} />} onClick={() => setOpen("delete")}>
            {t("bulkTopics.delete")}
          </Button>
        </NeedsRight>
      </FilterRow>
      {open === "change" && <ChangeTopics cluster={cluster} names={[...chosen]} onClose={close} />}
      {open === "delete" && <DeleteTopics cluster={cluster} names={[...chosen]} onClose={close} />}
    </>
  )
}
