import { Button } from "@mantine/core"
import { IconChevronDown, IconChevronUp } from "@tabler/icons-react"
import { type ReactNode, useState } from "react"
import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { DensityButton, FilterDivider, FilterInput, FilterRight, FilterRow } from "@/components/data-table/table-tools"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { rangeFault } from "@/hooks/use-asked-filter"
import type { UrlState } from "@/hooks/use-url-state"
import type { JobsFilter } from "../api/get-jobs"
import { countOfMore, isFiltered, STATES, toggled, TYPES, wordsIn } from "../filter"

interface JobsFiltersProps {
  filter: JobsFilter
  /** Chooses a schedule. */
  scheduleFilter: ReactNode
  onChange: (patch: UrlState) => void
  onClear: () => void
}

/** What jobs are looked for, all of it in the address; what is asked for less often is folded away until it is set. */
export function JobsFilters({ filter, scheduleFilter, onChange, onClear }: JobsFiltersProps) {
  const { t } = useTranslation()
  const more = countOfMore(filter)
  const [isOpen, setOpen] = useState(more > 0)
  return (
    <>
      <FilterRow>
        <Chip isOn={!isFiltered(filter)} onClick={onClear}>
          {t("jobs.all")}
        </Chip>
        {TYPES.map((type) => (
          <Chip key={type} isOn={wordsIn(filter.type).includes(type)} onClick={() => onChange({ type: toggled(filter.type, type) })}>
            {t(`jobs.types.${type}`)}
          </Chip>
        ))}
        <FilterDivider />
        {STATES.map((name) => (
          <Chip key={name} isOn={wordsIn(filter.state).includes(name)} onClick={() => onChange({ state: toggled(filter.state, name) })}>
            {t(`jobStates.${name}`)}
          </Chip>
        ))}
        <FilterRight>
          <DensityButton />
        </FilterRight>
      </FilterRow>
      <FilterRow>
        <FilterInput value={filter.topic ?? ""} onChange={(topic) => onChange({ topic })} placeholder={t("jobPages.topic")} />
        {isOpen && (
          <>
            <FilterInput value={filter.group ?? ""} onChange={(group) => onChange({ group })} isFirst={false} placeholder={t("jobPages.group")} />
            <FilterInput value={filter.created_by ?? ""} onChange={(name) => onChange({ created_by: name })} isFirst={false} placeholder={t("jobPages.by")} />
          </>
        )}
        <Button
          variant="subtle"
          aria-expanded={isOpen}
          rightSection={isOpen ? <IconChevronUp size={15} stroke={1.8} /> : <IconChevronDown size={15} stroke={1.8} />}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? t("jobPages.fewer") : more > 0 ? t("jobPages.more", { count: more }) : t("jobPages.moreNone")}
        </Button>
      </FilterRow>
      {isOpen && (
        <FilterRow>
          {scheduleFilter}
          <WallClockInput label={t("jobPages.from")} value={filter.from} onChange={(from) => onChange({ from })} />
          <WallClockInput
            label={t("jobPages.to")}
            value={filter.to}
            error={rangeFault(filter) === "reversed" ? t("details.reversed") : null}
            onChange={(to) => onChange({ to })}
          />
        </FilterRow>
      )}
    </>
  )
}
