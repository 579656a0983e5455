import { Select } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { DensityButton, FilterInput, FilterRight, FilterRow } from "@/components/data-table/table-tools"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { rangeFault } from "@/hooks/use-asked-filter"
import type { UrlState } from "@/hooks/use-url-state"
import type { AuditFilter } from "../api/get-audit"
import { RESULTS, useAuditWords } from "../use-sentence"

interface AuditFiltersProps {
  filter: AuditFilter
  onChange: (patch: UrlState) => void
}

/** What records are looked for: words, names, result and time; all of it in the address. */
export function AuditFilters({ filter, onChange }: AuditFiltersProps) {
  const { t } = useTranslation()
  const words = useAuditWords()
  return (
    <>
      <FilterRow>
        <FilterInput value={filter.q ?? ""} onChange={(q) => onChange({ q })} placeholder={t("auditSearch.words")} />
        <FilterInput value={filter.resource ?? ""} onChange={(resource) => onChange({ resource })} isFirst={false} placeholder={t("audit.byResource")} />
        <FilterInput value={filter.actor ?? ""} onChange={(actor) => onChange({ actor })} isFirst={false} placeholder={t("audit.byActor")} />
        <FilterInput value={filter.address ?? ""} onChange={(address) => onChange({ address })} isFirst={false} placeholder={t("auditSearch.address")} />
      </FilterRow>
      <FilterRow>
        <Select
          clearable
          label={t("auditEntry.result")}
          placeholder={t("auditSearch.anyResult")}
          value={filter.result ?? null}
          onChange={(result) => onChange({ result: result ?? undefined })}
          data={RESULTS.map((value) => ({ value, label: words.result(value) }))}
          maw={180}
        />
        <WallClockInput label={t("auditSearch.from")} value={filter.from} onChange={(from) => onChange({ from })} />
        <WallClockInput label={t("auditSearch.to")} value={filter.to} error={rangeFault(filter) === "reversed" ? t("details.reversed") : null} onChange={(to) => onChange({ to })} />
        <FilterRight>
          <DensityButton />
        </FilterRight>
      </FilterRow>
    </>
  )
}
