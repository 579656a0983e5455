import { Group, SegmentedControl, Stack, Textarea, TextInput } from "@mantine/core"
import type { ReactNode } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { NamePicker } from "@/components/forms/name-picker"
import { NumberField } from "@/components/forms/number-field"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import type { UrlState } from "@/hooks/use-url-state"
import { MinutesField } from "@/components/wizard/minutes-field"
import { useRefused } from "@/components/wizard/refusals"
import { faultsOf, isByOffset, isToFile, MOST_PER_SECOND } from "../request"
import classes from "./jobs.module.css"

export interface FieldsProps {
  state: UrlState
  topics: string[]
  onChange: (patch: UrlState) => void
}

interface TopicSelectProps {
  label: string
  description?: string
  value: string | undefined
  error?: string | false | undefined
  topics: string[]
  onChange: (topic: string | undefined) => void
}

export const TopicSelect = ({ label, description, value, error, topics, onChange }: TopicSelectProps) => (
  <NamePicker label={label} description={description} error={error} names={topics} value={value} onChange={onChange} maw={360} />
)

interface SourceProps extends FieldsProps {
  /** The fields of the range, where they are others than two moments. */
  range?: ReactNode
}

const BOUNDS = ["times", "offsets"] as const

export function SourceFields({ state, topics, onChange, range }: SourceProps) {
  const { t } = useTranslation()
  const refused = useRefused()
  const byOffset = isByOffset(state)
  return (
    <>
      <TopicSelect label={t("jobs.sourceTopic")} value={state.topic} error={refused("source.topic")} topics={topics} onChange={(topic) => onChange({ topic })} />
      <Field label={t("jobs.bounds.by")} description={t("jobs.bounds.byWords")}>
        <SegmentedControl
          mt={4}
          aria-label={t("jobs.bounds.by")}
          value={byOffset ? "offsets" : "times"}
          onChange={(bounds) => onChange({ bounds: bounds === "times" ? undefined : bounds })}
          data={BOUNDS.map((value) => ({ value, label: t(`jobs.bounds.${value}`) }))}
        />
      </Field>
      {byOffset ? <OffsetsField state={state} onChange={onChange} /> : (range ?? <RangeFields path="source" state={state} onChange={onChange} />)}
      <TextInput
        label={t("jobs.keys")}
        description={t("jobs.keysWords")}
        value={state.keys ?? ""}
        error={refused("source.keys")}
        onChange={(event) => onChange({ keys: event.currentTarget.value })}
        maw={520}
      />
      <TextInput
        label={t("jobTarget.keysFile")}
        description={t("jobTarget.keysFileWords")}
        className={formClasses.code}
        value={state.keysfile ?? ""}
        error={refused("source.keys_file")}
        onChange={(event) => onChange({ keysfile: event.currentTarget.value || undefined })}
        maw={520}
      />
      <Group gap={12} align="flex-start">
        <TextInput
          label={t("jobs.tag")}
          description={t("jobs.tagWords")}
          value={state.tag ?? ""}
          error={refused("source.tag")}
          onChange={(event) => onChange({ tag: event.currentTarget.value })}
          w={180}
        />
        {!byOffset && (
          <TextInput
            label={t("jobs.queues")}
            description={t("jobs.queuesWords")}
            value={state.queues ?? ""}
            error={faultsOf(state).queues ? t("jobs.faults.queues") : refused("source.queues")}
            onChange={(event) => onChange({ queues: event.currentTarget.value })}
            w={180}
          />
        )}
      </Group>
      <SqlField label={t("jobs.where")} description={t("jobs.whereWords")} placeholder={WHERE} value={state.where} error={refused("source.where")} onChange={(where) => onChange({ where })} />
    </>
  )
}

function OffsetsField({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  const refused = useRefused()
  return (
    <Textarea
      label={t("jobs.offsets")}
      description={t("jobs.offsetsWords")}
      placeholder={"0: 1000 - 2000\n3: 500 -"}
      autosize
      minRows={2}
      maxRows={8}
      className={formClasses.code}
      value={state.offsets ?? ""}
      error={faultsOf(state).offsets ? t("jobs.faults.offsets") : refused("source.offsets")}
      spellCheck={false}
      onChange={(event) => onChange({ offsets: event.currentTarget.value || undefined })}
      maw={520}
    />
  )
}

const WHERE = "json:amount::double > 10"

/** What copies get instead of what the messages have. */
export function TransformFields({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  const refused = useRefused()
  const field = (name: "tbody" | "ttag" | "tkeys", label: string, placeholder: string) => (
    <SqlField label={label} placeholder={placeholder} value={state[name]} error={refused(`target.transform.${name.slice(1)}`)} onChange={(sql) => onChange({ [name]: sql })} />
  )
  return (
    <Stack component="fieldset" gap={10} className={classes.fieldset}>
      <legend>
        {t("jobs.transform")} <span className="micro">{t("jobs.transformWords")}</span>
      </legend>
      {field("tbody", t("jobs.body"), "to_json(named_struct('id', json:id::string))")}
      {field("ttag", t("jobs.tag"), "'replayed'")}
      {field("tkeys", t("jobs.keys"), "json:id::string")}
      <SqlField
        label={t("jobs.properties")}
        description={t("jobs.propertiesWords")}
        placeholder="region = 'north'"
        value={state.tprops}
        error={faultsOf(state).tprops ? t("jobs.faults.properties") : refused("target.transform.properties")}
        onChange={(tprops) => onChange({ tprops })}
      />
    </Stack>
  )
}

interface SqlFieldProps {
  label: string
  description?: string
  placeholder?: string
  value: string | undefined
  error?: string | false | undefined
  onChange: (sql: string | undefined) => void
}

/** An expression of Spark SQL over a message. */
export const SqlField = ({ value, onChange, ...field }: SqlFieldProps) => (
  <Textarea {...field} autosize minRows={1} maxRows={8} className={formClasses.code} value={value ?? ""} spellCheck={false} onChange={(event) => onChange(event.currentTarget.value || undefined)} maw={620} />
)

export interface RangeProps extends Omit<FieldsProps, "topics"> {
  /** The part of the request whose range it is. */
  path: "source" | "left" | "right"
}

/** The words of the address for the bounds of a part. */
export const boundNames = (path: RangeProps["path"]) => (path === "right" ? (["rfrom", "rto"] as const) : (["from", "to"] as const))

export function RangeFields({ path, state, onChange }: RangeProps) {
  const { t } = useTranslation()
  const refused = useRefused()
  const [from, to] = boundNames(path)
  const fault = faultsOf(state)[to]
  return (
    <Group gap={12} align="flex-start">
      <WallClockInput label={t("messages.from")} description={t("jobs.fromWords")} value={state[from]} error={refused(`${path}.from`)} onChange={(next) => onChange({ [from]: next })} />
      <WallClockInput label={t("messages.to")} description={t("jobs.toWords")} value={state[to]} error={fault ? t(`jobs.faults.${fault}`) : refused(`${path}.to`)} onChange={(next) => onChange({ [to]: next })} />
    </Group>
  )
}

export function LimitFields({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  const refused = useRefused()
  const number = (name: "rate" | "max", label: string, description: string, max?: number) => (
    <NumberField
      label={label}
      error={refused(name === "rate" ? "limits.messages_per_second" : "limits.max_messages")}
      description={description}
      value={state[name] === undefined ? undefined : Number(state[name])}
      min={1}
      {...(max !== undefined && { max })}
      isOptional
      onChange={(value) => onChange({ [name]: value === undefined ? undefined : String(value) })}
      width={240}
    />
  )
  return (
    <>
      {!isToFile(state) && (
        <Group gap={12} align="flex-start">
          {number("rate", t("jobs.perSecond"), t("jobs.perSecondWords"), MOST_PER_SECOND)}
          {number("max", t("jobs.most"), t("jobs.mostWords"))}
        </Group>
      )}
      <MinutesField />
      <DamageField state={state} onChange={onChange} />
    </>
  )
}

/** What becomes of a job that meets a message which cannot be read. */
export function DamageField({ state, onChange }: Omit<FieldsProps, "topics">) {
  const { t } = useTranslation()
  return (
    <Field label={t("jobs.onDamage")} description={t("jobs.onDamageWords")}>
      <SegmentedControl
        mt={4}
        value={state.damage === "stop" ? "stop" : "skip"}
        onChange={(damage) => onChange({ damage: damage === "skip" ? undefined : damage })}
        data={(["skip", "stop"] as const).map((value) => ({ value, label: t(`jobs.damage.${value}`) }))}
      />
    </Field>
  )
}
