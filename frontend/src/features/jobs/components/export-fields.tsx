import { MultiSelect, SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { Callout } from "@/components/layout/panel"
import { useMayOn } from "@/hooks/use-right-on"
import { COLUMNS, columnsOf, showsContents } from "../export-columns"
import { MinutesField } from "@/components/wizard/minutes-field"
import { useRefused } from "@/components/wizard/refusals"
import { FORMATS } from "../request"
import { DamageField, type FieldsProps } from "./request-fields"

/** The file of an export: its format, its columns, and what stays out of it. */
export function FileFields({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  const refused = useRefused()
  const mayReadBodies = useMayOn("bodies", "topic", state.topic)
  // A link may name columns that its reader may not read: they are shown, to be taken out.
  const chosen = columnsOf(state, mayReadBodies)
  const right = t("rights.bodies")
  return (
    <>
      <Field label={t("exporting.format")} description={t("exporting.formatWords")} error={refused("format")}>
        <SegmentedControl
          mt={4}
          aria-label={t("exporting.format")}
          value={FORMATS.find((format) => format === state.format) ?? "csv"}
          onChange={(format) => onChange({ format: format === "csv" ? undefined : format })}
          data={FORMATS.map((value) => ({ value, label: t(`exporting.formats.${value}`) }))}
        />
      </Field>
      {!mayReadBodies && <Callout>{t("exporting.masked", { right })}</Callout>}
      <MultiSelect
        label={t("exporting.columns")}
        description={mayReadBodies && !state.cols ? t("exporting.usualColumns", { right }) : t("exporting.columnsWords")}
        searchable
        clearable
        classNames={{ pill: "mono", option: "mono" }}
        data={COLUMNS.filter((column) => mayReadBodies || !showsContents(column) || chosen.includes(column))}
        value={chosen}
        error={refused("columns")}
        onChange={(columns) => onChange({ cols: columns.join(",") })}
        maw={720}
      />
      <MinutesField />
      <DamageField state={state} onChange={onChange} />
    </>
  )
}
