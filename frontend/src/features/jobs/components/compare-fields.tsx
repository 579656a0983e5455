import { Checkbox, Group, MultiSelect, SegmentedControl } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { NumberField } from "@/components/forms/number-field"
import { Callout } from "@/components/layout/panel"
import { useRefused } from "@/components/wizard/refusals"
import { faultsOf, isBySql } from "../request"
import { isByWords } from "../sides"
import { type FieldsProps, SqlField } from "./request-fields"

const BY = ["key", "unique_id", "body", "source", "sql"] as const
const FIELDS = ["body", "tag", "keys", "properties"] as const
const LONGEST_LATENESS_S = 604_800

type Props = Omit<FieldsProps, "topics">

/** How messages are paired, and what must be equal of a pair. */
export function CompareFields({ state, onChange }: Props) {
  const { t } = useTranslation()
  const refused = useRefused()
  const faults = faultsOf(state)
  const compared = state.cmp === "none" ? [] : (state.cmp ?? "body").split(",")
  return (
    <>
      <ByField state={state} onChange={onChange} />
      {isByWords(state) ? (
        <MultiSelect
          label={t("compareFields.fields")}
          description={t("compareFields.fieldsWords")}
          data={FIELDS.map((value) => ({ value, label: t(`compareFields.names.${value}`) }))}
          value={compared}
          onChange={(fields) => onChange({ cmp: fields.length === 0 ? "none" : fields.join(",") === "body" ? undefined : fields.join(",") })}
          maw={520}
        />
      ) : (
        <Callout>{t("sides.onlySql")}</Callout>
      )}
      <SqlField
        label={t("compareFields.values")}
        description={t("compareFields.valuesWords")}
        placeholder="amount: json:amount::double | json:total::double | 0.01"
        value={state.values}
        error={faults.values ? t("jobs.faults.values") : refused("compare")}
        onChange={(values) => onChange({ values })}
      />
      <Group gap={18}>
        <Checkbox label={t("compareFields.order")} checked={state.order === "1"} onChange={(event) => onChange({ order: event.currentTarget.checked ? "1" : undefined })} />
        <Checkbox label={t("compareFields.multiset")} checked={state.multiset !== "0"} onChange={(event) => onChange({ multiset: event.currentTarget.checked ? undefined : "0" })} />
      </Group>
      <NumberField
        label={t("compareFields.lateness")}
        description={t("compareFields.latenessWords")}
        min={1}
        max={LONGEST_LATENESS_S}
        isOptional
        value={state.late === undefined ? undefined : Number(state.late)}
        onChange={(seconds) => onChange({ late: seconds === undefined ? undefined : String(seconds) })}
        width={240}
      />
    </>
  )
}

function ByField({ state, onChange }: Props) {
  const { t } = useTranslation()
  const refused = useRefused()
  const expression = (name: "bleft" | "bright", label: string) => (
    <SqlField label={label} placeholder="json:order_id::string" value={state[name]} error={refused(name === "bleft" ? "by.left" : "by.right")} onChange={(sql) => onChange({ [name]: sql })} />
  )
  return (
    <>
      {isByWords(state) && (
        <Field label={t("jobs.joinBy")} description={t("jobs.joinByWords")} error={refused("by")}>
          <SegmentedControl
            mt={4}
            value={BY.find((by) => by === state.by) ?? "key"}
            onChange={(by) => onChange({ by: by === "key" ? undefined : by })}
            data={BY.map((value) => ({ value, label: value === "sql" ? t("compareFields.sql") : t(`jobs.by_.${value}`) }))}
          />
        </Field>
      )}
      {isBySql(state) && (
        <>
          {expression("bleft", t("compareFields.keyLeft"))}
          {expression("bright", t("compareFields.keyRight"))}
        </>
      )}
    </>
  )
}

/** Which messages of each side count. */
export function ConditionFields({ state, onChange }: Props) {
  const { t } = useTranslation()
  const refused = useRefused()
  return (
    <>
      <SqlField label={t("compareFields.whereLeft")} description={t("jobs.whereWords")} value={state.lwhere} error={refused("left.where")} onChange={(lwhere) => onChange({ lwhere })} />
      <SqlField label={t("compareFields.whereRight")} value={state.rwhere} error={refused("right.where")} onChange={(rwhere) => onChange({ rwhere })} />
    </>
  )
}
