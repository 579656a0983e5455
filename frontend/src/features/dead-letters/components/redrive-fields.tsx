import { Group, MultiSelect, SegmentedControl, Textarea, TextInput } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { NamePicker } from "@/components/forms/name-picker"
import { NumberField } from "@/components/forms/number-field"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { Callout } from "@/components/layout/panel"
import { MinutesField } from "@/components/wizard/minutes-field"
import { useRefused } from "@/components/wizard/refusals"
import { useUrlState } from "@/hooks/use-url-state"
import { count } from "@/lib/format"
import { useCauses } from "../api/get-causes"
import { useDeadLetterGroups } from "../api/get-groups"
import { causesAs, causesIn, countsOf, destinationOf, MOST_MESSAGES, ORIGINALS, originalsOf, redriveFaults, wordsOf } from "../redrive"
import { type Destination, DESTINATIONS, MOST_RATE, USUAL_RATE } from "../wish"

/** Which dead letters: of one group, and all conditions must hold. */
export function WhichFields({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const refused = useRefused()
  const [state, change] = useUrlState()
  const origins = useDeadLetterGroups(cluster).data?.items.find(({ name }) => name === state.group)?.topics ?? []
  return (
    <>
      <GroupField cluster={cluster} />
      {state.group !== undefined && <CauseField cluster={cluster} group={state.group} />}
      <MultiSelect
        label={t("redriveWizard.origins")}
        description={t("redriveWizard.originsWords")}
        searchable
        clearable
        data={[...new Set([...origins, ...wordsOf(state.origins)])]}
        value={wordsOf(state.origins)}
        error={refused("filter.topics")}
        onChange={(topics) => change({ origins: topics.join(",") || undefined })}
        maw={520}
      />
      <Group gap={12} align="flex-start">
        <WallClockInput label={t("messages.from")} description={t("redriveWizard.fromWords")} value={state.from} error={refused("filter.from")} onChange={(from) => change({ from })} />
        <WallClockInput
          label={t("messages.to")}
          description={t("redriveWizard.toWords")}
          value={state.to}
          error={redriveFaults(state).has("to") ? t("jobs.faults.reversed") : refused("filter.to")}
          onChange={(to) => change({ to })}
        />
      </Group>
      <TextInput
        label={t("redriveWizard.key")}
        description={t("redriveWizard.keyWords")}
        value={state.key ?? ""}
        error={refused("filter.key")}
        onChange={(event) => change({ key: event.currentTarget.value || undefined })}
        maw={520}
      />
      <Textarea
        label={t("redriveWizard.ids")}
        description={t("redriveWizard.idsWords")}
        autosize
        minRows={1}
        maxRows={8}
        spellCheck={false}
        className={formClasses.code}
        value={state.ids ?? ""}
        error={refused("filter.ids")}
        onChange={(event) => change({ ids: event.currentTarget.value || undefined })}
        maw={520}
      />
    </>
  )
}

/** The group, by how many dead letters it has. */
function GroupField({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const found = useDeadLetterGroups(cluster).data
  const groups = found?.items ?? []
  const amountOf = (name: string | undefined) => groups.find((group) => group.name === name)?.messages ?? null
  const chosen = amountOf(state.group)
  return (
    <>
      {found && groups.length === 0 && <Callout>{t(found.messages === null ? "deadLetters.unknown" : "deadLetters.none")}</Callout>}
      <NamePicker
        label={t("redriveWizard.group")}
        description={chosen === null ? t("redriveWizard.groupWords") : t("redriveWizard.hasLetters", { count: chosen, n: count(chosen) })}
        names={groups.map(({ name }) => name)}
        isCut={(found?.total ?? 0) > groups.length}
        value={state.group}
        renderOption={({ option }) => <GroupOption name={option.label} messages={amountOf(option.value)} />}
        onChange={(group) => change({ group, causes: undefined, origins: undefined, allow: undefined })}
        maw={360}
      />
    </>
  )
}

const GroupOption = ({ name, messages }: { name: string; messages: number | null }) => (
  <Group justify="space-between" gap={12} wrap="nowrap" w="100%">
    <span>{name}</span>
    <span className="micro">{messages === null ? "—" : count(messages)}</span>
  </Group>
)

/** The causes that the newest dead letters of the group have, with how many. */
function CauseField({ cluster, group }: { cluster: string; group: string }) {
  const { t } = useTranslation()
  const refused = useRefused()
  const [state, change] = useUrlState()
  const found = useCauses(cluster, [group])[0]?.data
  const chosen = causesIn(state.causes)
  const counts = countsOf(found?.items ?? [])
  const label = (cause: string | null) => `${cause ?? t("deadLetters.noReason")} (${counts.has(cause) ? count(counts.get(cause) ?? 0) : "—"})`
  return (
    <MultiSelect
      label={t("deadLetters.causes")}
      description={
        found && !found.complete
          ? t("deadLetters.partly", { read: count(found.read), stored: found.stored === null ? "—" : count(found.stored) })
          : t("redriveWizard.causesWords")
      }
      searchable
      clearable
      data={[...new Set([...counts.keys(), ...chosen])].map((cause) => ({ value: JSON.stringify(cause), label: label(cause) }))}
      value={chosen.map((cause) => JSON.stringify(cause))}
      error={refused("filter.causes")}
      onChange={(causes) => change({ causes: causesAs(causes.map((cause) => JSON.parse(cause) as string | null)) })}
      maw={520}
    />
  )
}

interface SendProps {
  topics: readonly string[]
  usual: Destination
  /** Whether copies may go where others read their bodies. */
  mayHandOn: boolean
}

/** Where the copies go, and who sees them there. */
export function SendFields({ topics, usual, mayHandOn }: SendProps) {
  const { t } = useTranslation()
  const refused = useRefused()
  const [state, change] = useUrlState()
  const to = destinationOf(state, usual)
  return (
    <>
      <Field label={t("deadLetters.sendTo")} description={t(`redriveWizard.to.${to}`)} error={refused("target.to")}>
        <SegmentedControl
          mt={4}
          aria-label={t("deadLetters.sendTo")}
          value={to}
          onChange={(send) => change({ send, allow: undefined })}
          data={DESTINATIONS.map((value) => ({ value, label: t(`deadLetters.destinations.${value}`), disabled: !mayHandOn && value !== "failed_group" }))}
        />
      </Field>
      {!mayHandOn && <p className="micro">{t("deadLetters.needsBodies", { right: t("rights.bodies") })}</p>}
      {state.send === undefined && usual === "origin" && <Callout>{t("deadLetters.whyOrigin")}</Callout>}
      {to === "other" && (
        <NamePicker label={t("jobs.targetTopic")} names={topics} value={state.topic} error={refused("target.topic")} onChange={(topic) => change({ topic, allow: undefined })} maw={360} />
      )}
    </>
  )
}

/** How fast, how many, and when an original counts as done. */
export function LimitFields() {
  const { t } = useTranslation()
  const refused = useRefused()
  const [state, change] = useUrlState()
  const originals = originalsOf(state)
  return (
    <>
      <Group gap={12} align="flex-start">
        <NumberField
          label={t("jobs.perSecond")}
          description={t("jobs.perSecondNeeded")}
          min={1}
          max={MOST_RATE}
          width={240}
          value={state.rate === undefined ? USUAL_RATE : Number(state.rate)}
          error={refused("limits.messages_per_second")}
          onChange={(rate) => change({ rate: rate === USUAL_RATE ? undefined : String(rate) })}
        />
        <NumberField
          label={t("jobs.most")}
          description={t("redriveWizard.mostWords", { n: count(MOST_MESSAGES) })}
          min={1}
          max={MOST_MESSAGES}
          isOptional
          width={240}
          value={state.max === undefined ? undefined : Number(state.max)}
          error={refused("limits.max_messages")}
          onChange={(max) => change({ max: max === undefined ? undefined : String(max) })}
        />
      </Group>
      <MinutesField />
      <Field label={t("redriveWizard.doneWhen")} description={t(`redriveWizard.doneWords.${originals}`)} error={refused("originals")}>
        <SegmentedControl
          mt={4}
          aria-label={t("redriveWizard.doneWhen")}
          value={originals}
          onChange={(next) => change({ originals: next === "kept" ? next : undefined })}
          data={ORIGINALS.map((value) => ({ value, label: t(`redriveWizard.done.${value}`) }))}
        />
      </Field>
    </>
  )
}
