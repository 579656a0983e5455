import { Button, FileButton, Group, SegmentedControl, Stack, Textarea } from "@mantine/core"
import { IconFileUpload, IconUpload } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { NeedsRight } from "@/components/forms/lock"
import { Callout, Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { paths } from "@/config/paths"
import type { DefinitionsApplied, DefinitionsPlan } from "@/lib/api-types"
import { count } from "@/lib/format"
import { asProblem } from "@/lib/problem"
import { useApplyDefinitions } from "../api/apply-definitions"
import { useDiffDefinitions } from "../api/diff-definitions"
import { type GivenDefinitions, readDefinitions } from "../given-definitions"
import { AppliedItems, PlannedItems } from "./definition-items"

const CHANGED_SINCE = 412

/** Compares a file with what there is, and makes the changes that the comparison showed. */
export function ImportPanel({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [text, setText] = useState("")
  const [into, setInto] = useState<"named" | "this">("named")
  const diff = useDiffDefinitions()
  const apply = useApplyDefinitions()
  const read = readDefinitions(text)
  const fault = text.trim() !== "" && "fault" in read ? read.fault : null
  const given: GivenDefinitions | null = "fault" in read ? null : { definitions: read.definitions, ...(into === "this" && { cluster }) }
  const forget = () => {
    diff.reset()
    apply.reset()
  }
  const give = (next: string) => {
    setText(next)
    forget()
  }
  const compare = () => {
    if (given === null) return
    forget()
    diff.mutate(given)
  }
  return (
    <Panel
      title={t("definitions.import")}
      note={t("definitions.importNote")}
      actions={<CurlButton request={{ method: "POST", path: paths.definitionsDiff, body: given ?? { definitions: {} } }} />}
    >
      <Stack gap={14} p={14} align="stretch">
        <Field label={t("definitions.into")}>
          <SegmentedControl
            value={into}
            onChange={(next) => {
              setInto(next as "named" | "this")
              forget()
            }}
            data={[
              { value: "named", label: t("definitions.asNamed") },
              { value: "this", label: t("definitions.intoThis", { cluster }) },
            ]}
          />
        </Field>
        <Textarea
          label={t("definitions.file")}
          placeholder={t("definitions.paste")}
          value={text}
          onChange={(event) => give(event.currentTarget.value)}
          error={fault && t("definitions.notJson", { fault })}
          autosize
          minRows={4}
          maxRows={12}
          className={formClasses.code}
        />
        <Group gap={8}>
          <FileButton accept="application/json,.json" onChange={(file) => void file?.text().then(give)}>
            {(props) => (
              <Button {...props} variant="subtle" leftSection={<IconFileUpload size={15} stroke={1.6} />}>
                {t("definitions.choose")}
              </Button>
            )}
          </FileButton>
          <Button disabled={given === null} loading={diff.isPending} onClick={compare}>
            {t("definitions.compare")}
          </Button>
        </Group>
        {diff.error && <Failed what={t("definitions.notCompared")} error={diff.error} />}
        {diff.data && !apply.data && <Plan plan={diff.data} isBusy={apply.isPending} onApply={() => given && apply.mutate(given)} />}
        {apply.error && <NotApplied error={apply.error} again={compare} />}
        {apply.data && <Outcome applied={apply.data} again={compare} />}
      </Stack>
    </Panel>
  )
}

interface PlanProps {
  plan: DefinitionsPlan
  isBusy: boolean
  onApply: () => void
}

function Plan({ plan: { items, counts }, isBusy, onApply }: PlanProps) {
  const { t } = useTranslation()
  const changes = counts.create + counts.change
  const words = { create: count(counts.create), change: count(counts.change), refused: count(counts.refused), same: count(counts.same), kept: count(counts.kept) }
  return (
    <>
      <p role="status">{t("definitions.planned", words)}</p>
      {items.length > 0 && <PlannedItems rows={items} />}
      {changes > 0 && (
        <Group>
          <NeedsRight right="manage">
            <Button variant="filled" leftSection={<IconUpload size={15} stroke={1.6} />} loading={isBusy} onClick={onApply}>
              {t("definitions.apply", { count: changes })}
            </Button>
          </NeedsRight>
        </Group>
      )}
    </>
  )
}

/** Whether it is only that something has changed since the comparison, which another comparison mends. */
function NotApplied({ error, again }: { error: unknown; again: () => void }) {
  const { t } = useTranslation()
  if (asProblem(error).status !== CHANGED_SINCE) return <Failed what={t("definitions.notApplied")} error={error} />
  return (
    <Callout>
      {t("definitions.changedSince")} <CompareAgain again={again} />
    </Callout>
  )
}

function Outcome({ applied: { items, counts }, again }: { applied: DefinitionsApplied; again: () => void }) {
  const { t } = useTranslation()
  const words = { done: count(counts.done), lacking: count(counts.partial + counts.failed), refused: count(counts.refused) }
  return (
    <>
      <p role="status">{t("definitions.applied", words)}</p>
      {counts.waiting > 0 && (
        <Callout>
          {t("definitions.waiting", { count: counts.waiting })} <CompareAgain again={again} />
        </Callout>
      )}
      <AppliedItems rows={items} />
    </>
  )
}

function CompareAgain({ again }: { again: () => void }) {
  const { t } = useTranslation()
  return (
    <Button variant="subtle" onClick={again}>
      {t("definitions.compareAgain")}
    </Button>
  )
}
