import { SegmentedControl, Select, Stack, Textarea, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { NamePicker } from "@/components/forms/name-picker"
import { useCluster } from "@/hooks/use-cluster"
import { useRefused } from "@/components/wizard/refusals"
import { isCheck } from "../request"
import { hasMessages, isTimeMissing, kindOfSide, SIDE_KINDS, type SideKind, type SideName, sideField } from "../sides"
import classes from "./jobs.module.css"
import type { FieldsProps } from "./request-fields"

/** What can be chosen for a side; names that are not known may be typed. */
export interface Choices {
  topics: string[]
  groups: string[]
}

interface SideProps extends Omit<FieldsProps, "topics"> {
  side: SideName
  clusters: string[]
  choices: Choices
}

/** One side of a comparison: what kind it is, and the fields of this kind. */
export function SideFields({ side, state, clusters, choices, onChange }: SideProps) {
  const { t } = useTranslation()
  const refused = useRefused()
  const kind = kindOfSide(state, side)
  const props = { side, state, clusters, choices, onChange }
  return (
    <Stack component="fieldset" gap={10} className={classes.fieldset}>
      <legend>
        {t(`jobs.${side}`)} <span className="micro">{t(`jobs.${side}Words`)}</span>
      </legend>
      <Select
        label={t("sides.kind", { side: t(`sides.of.${side}`) })}
        data={SIDE_KINDS.map((value) => ({ value, label: t(`sides.kinds.${value}`) }))}
        value={kind}
        error={refused(`${side}.kind`)}
        allowDeselect={false}
        onChange={(next) => onChange({ [sideField(side, "kind")]: next === "topic" ? undefined : (next ?? undefined) })}
        maw={360}
      />
      {hasMessages({ kind }) ? <MessageFields kind={kind} {...props} /> : <RowFields kind={kind} {...props} />}
    </Stack>
  )
}

/** A topic, or what a group has consumed of one. */
function MessageFields({ kind, side, state, clusters, choices, onChange }: SideProps & { kind: SideKind }) {
  const { t } = useTranslation()
  const cluster = useCluster()
  const refused = useRefused()
  const [topic, group, other] = [sideField(side, "topic"), sideField(side, "group"), sideField(side, "cluster")]
  return (
    <>
      {clusters.length > 1 && (
        <Select
          label={t("sides.cluster", { side: t(`sides.of.${side}`) })}
          data={clusters}
          value={state[other] ?? cluster}
          error={refused(`${side}.cluster`)}
          allowDeselect={false}
          onChange={(next) => onChange({ [other]: next === cluster ? undefined : (next ?? undefined), [topic]: undefined, [group]: undefined })}
          maw={360}
        />
      )}
      <NamePicker label={kind === "group" ? t("sides.topicOf", { side: t(`sides.of.${side}`) }) : t(`jobs.${side}`)} names={choices.topics} value={state[topic]} error={refused(`${side}.topic`)} onChange={(next) => onChange({ [topic]: next })} maw={360} />
      {kind === "group" && (
        <NamePicker
          label={t("sides.group", { side: t(`sides.of.${side}`) })}
          description={t("sides.groupWords")}
          names={choices.groups}
          value={state[group]}
          error={refused(`${side}.group`)}
          onChange={(next) => onChange({ [group]: next })}
          maw={360}
        />
      )}
    </>
  )
}

/** Rows of files or of a database. */
function RowFields({ kind, side, state, onChange }: SideProps & { kind: SideKind }) {
  const { t } = useTranslation()
  const refused = useRefused()
  const of = t(`sides.of.${side}`)
  const text = (field: "path" | "connection" | "table" | "time", description: string, fault?: string | false) => {
    const name = sideField(side, field)
    return (
      <TextInput
        label={t(`sides.${field}`, { side: of })}
        description={description}
        className={formClasses.code}
        value={state[name] ?? ""}
        error={fault || refused(`${side}.${field}`)}
        onChange={(event) => onChange({ [name]: event.currentTarget.value || undefined })}
        maw={520}
      />
    )
  }
  const query = sideField(side, "query")
  const time = text("time", t("sides.timeWords"), isTimeMissing(state, side) && t("jobs.faults.time"))
  if (kind !== "postgresql")
    return (
      <>
        {text("path", t("sides.pathWords"))}
        {time}
      </>
    )
  return (
    <>
      {text("connection", t("sides.connectionWords"))}
      {text("table", t("sides.tableWords"))}
      <Textarea
        label={t("sides.query", { side: of })}
        description={t("sides.queryWords")}
        autosize
        minRows={1}
        maxRows={8}
        spellCheck={false}
        className={formClasses.code}
        value={state[query] ?? ""}
        error={refused(`${side}.query`)}
        onChange={(event) => onChange({ [query]: event.currentTarget.value || undefined })}
        maw={620}
      />
      {time}
    </>
  )
}

/** Two sides with each other, or the store with itself. */
export function WhatField({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  const refused = useRefused()
  return (
    <Field label={t("sides.what")} description={isCheck(state) ? t("sides.storeWords") : t("sides.twoWords")} error={refused("check") ?? refused("cluster")}>
      <SegmentedControl
        mt={4}
        aria-label={t("sides.what")}
        value={isCheck(state) ? "store" : "sides"}
        onChange={(next) => onChange({ check: next === "store" ? "store" : undefined })}
        data={(["sides", "store"] as const).map((value) => ({ value, label: t(`sides.whats.${value}`) }))}
      />
    </Field>
  )
}
