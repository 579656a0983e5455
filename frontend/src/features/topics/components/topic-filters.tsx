import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { ColumnsButton, DensityButton, FilterDivider, FilterInput, FilterRight, FilterRow } from "@/components/data-table/table-tools"
import { useUrlState } from "@/hooks/use-url-state"
import { topicColumns } from "./topic-columns"

/** What a topic can be declared for; chosen again, all are shown. */
const DECLARED = ["fifo", "delay", "transaction"] as const
const HIDDEN = ["retry", "dlq", "system"] as const

/** By name and by kind; the kinds nobody made by hand stand apart. */
export function TopicFilters({ kind, type, search }: { kind: string; type: string | undefined; search: string }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const columns = useMemo(() => topicColumns(t), [t])
  const choose = (next: string) => change({ kind: next === "normal" ? undefined : next })
  return (
    <FilterRow>
      <FilterInput value={search} onChange={(next) => change({ search: next })} placeholder={t("topics.filter")} />
      <FilterDivider />
      <Chip isOn={kind === "normal"} onClick={() => choose("normal")}>
        {t("topics.kinds.normal")}
      </Chip>
      <Chip isOn={kind === "all"} onClick={() => choose("all")}>
        {t("topics.kinds.all")}
      </Chip>
      <FilterDivider />
      {DECLARED.map((name) => (
        <Chip key={name} isOn={type === name} onClick={() => change({ type: type === name ? undefined : name })}>
          {t(`topics.messageTypes.${name}`)}
        </Chip>
      ))}
      <FilterDivider />
      <span className="micro">{t("topics.hidden")}</span>
      {HIDDEN.map((name) => (
        <Chip key={name} dashed isOn={kind === name} onClick={() => choose(name)}>
          {t(`topics.kinds.${name}`)}
        </Chip>
      ))}
      <FilterRight>
        <DensityButton />
        <ColumnsButton table="topics" columns={columns} />
      </FilterRight>
    </FilterRow>
  )
}
