import { Button, FileButton, Group, SegmentedControl, Select, SimpleGrid, Stack, Textarea, TextInput } from "@mantine/core"
import { IconFileUpload, IconSend } from "@tabler/icons-react"
import { type Dispatch, type SetStateAction, useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { isWithin, NumberField } from "@/components/forms/number-field"
import { Fillable, NeedsRight } from "@/components/forms/lock"
import { WallClockInput } from "@/components/forms/wall-clock-input"
import { Columns } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { toastFailed, toastUnknown } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useAbility } from "@/hooks/use-ability"
import { useFormat } from "@/hooks/use-format"
import { curlOf } from "@/lib/curl"
import { count } from "@/lib/format"
import { JSON_HEADERS } from "../api/produce"
import {
  AT_A_TIME,
  bodyOfFile,
  COUNT_RANGE,
  DELAY_LEVELS_MS,
  type DraftProblems,
  EMPTY_DRAFT,
  ENCODINGS,
  messagesOf,
  MOST_MESSAGES,
  problemsOf,
  type ProduceDraft,
  RATE_RANGE,
  requestText,
  SENDS,
} from "../produce-draft"
import { isUnsure, useSending } from "../use-sending"
import { PrepareButton } from "./prepare-button"
import { ProduceResults } from "./produce-results"
import classes from "./topics.module.css"

const SHOWN_IN_CURL = 3

/** Left the message or messages, right the request they become and what came of those already sent. */
export function ProduceForm({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const { sending, sent, send, stop } = useSending(cluster, topic)
  const problems = problemsOf(draft)
  const messages = useMemo(() => messagesOf(draft), [draft])
  const isMany = draft.sends !== "one"
  const action = isMany ? t("produce.sendMany", { topic, n: count(messages.length) }) : t("produce.send", { topic })
  const isReady = problems.body === undefined && problems.properties === undefined && !problems.deliverAt && areNumbersRight(draft)
  const isBusy = sending !== null && sending.endedAt === null
  const submit = async () => {
    const problem = await send(messages, isMany ? draft.perSecond : undefined)
    if (problem === null) return
    if (isUnsure(problem)) toastUnknown(t("produce.unknown"), t("produce.unknownNext", { key: draft.keys || t("produce.noKey") }))
    else toastFailed(t("produce.failed"), problem)
  }
  return (
    <Columns
      sideWidth={460}
      main={
        <Fillable right="produce">
          <Panel title={t("produce.message")}>
            <form
              onSubmit={(event) => {
                event.preventDefault()
                void submit()
              }}
            >
              <Stack gap={14} p={14}>
                <DraftFields cluster={cluster} draft={draft} onChange={setDraft} wrongLine={problems.properties} />
                <BodyField draft={draft} onChange={setDraft} problem={problems.body} />
                {isMany && <ManyFields draft={draft} onChange={setDraft} />}
                <Group gap={12}>
                  <NeedsRight right="produce">
                    <Button type="submit" variant="filled" size="md" leftSection={<IconSend size={15} stroke={1.6} />} disabled={!isReady} loading={isBusy}>
                      {action}
                    </Button>
                  </NeedsRight>
                  {!isMany && <PrepareButton cluster={cluster} topic={topic} message={messages[0]} isReady={isReady} />}
                  {isBusy && isMany && (
                    <Button size="md" onClick={stop}>
                      {t("produce.stop")}
                    </Button>
                  )}
                </Group>
              </Stack>
            </form>
          </Panel>
        </Fillable>
      }
      side={
        <>
          <Panel title={t("request.title")} note={t(messages.length > SHOWN_IN_CURL ? "produce.firstOf" : "request.sentWhen", { action, n: SHOWN_IN_CURL })}>
            <CodeBlock
              plain
              wrap
              language="curl"
              text={curlOf({
                method: "POST",
                path: paths.topicMessages(cluster, topic),
                headers: JSON_HEADERS,
                body: requestText(messages.slice(0, SHOWN_IN_CURL)),
              })}
            />
          </Panel>
          <ProduceResults topic={topic} sent={sent} sending={sending} />
        </>
      }
    />
  )
}

interface FieldsProps {
  draft: ProduceDraft
  onChange: Dispatch<SetStateAction<ProduceDraft>>
}

function DraftFields({ cluster, draft, onChange, wrongLine }: FieldsProps & { cluster: string; wrongLine: number | undefined }) {
  const { t } = useTranslation()
  const timer = useAbility(cluster, "timer")
  const format = useFormat()
  const set = (field: keyof ProduceDraft) => (event: { currentTarget: { value: string } }) =>
    onChange({ ...draft, [field]: event.currentTarget.value })
  return (
    <>
      <SimpleGrid type="container" cols={{ base: 1, "340px": 2, "620px": 4 }} spacing={12} verticalSpacing={14} className={classes.fields ?? ""}>
        <TextInput label={t("produce.keys")} description={t("produce.keysWords")} value={draft.keys} onChange={set("keys")} />
        <TextInput label={t("produce.tag")} description={t("produce.tagWords")} value={draft.tag} onChange={set("tag")} />
        <TextInput label={t("produce.orderingKey")} description={t("produce.orderingKeyWords")} value={draft.orderingKey} onChange={set("orderingKey")} />
        <Select
          label={t("produce.delay")}
          description={timer.isLimited ? t("produce.levelsWords") : t("produce.delayWords")}
          value={draft.delayMs}
          onChange={(delayMs) => onChange({ ...draft, delayMs: delayMs ?? "" })}
          data={[
            { value: "", label: t("produce.atOnce") },
            ...DELAY_LEVELS_MS.map((ms) => ({ value: String(ms), label: format.duration(ms) })),
            ...(timer.isLimited ? [] : [{ value: AT_A_TIME, label: t("produce.atATime") }]),
          ]}
        />
      </SimpleGrid>
      {draft.delayMs === AT_A_TIME && (
        <WallClockInput label={t("produce.deliverAt")} description={t("produce.deliverAtWords")} value={draft.deliverAt} onChange={(deliverAt) => onChange({ ...draft, deliverAt })} />
      )}
      <Textarea
        label={t("produce.properties")}
        description={t("produce.propertiesWords")}
        value={draft.properties}
        onChange={set("properties")}
        autosize
        minRows={2}
        className={formClasses.code}
        error={wrongLine === undefined ? null : t("produce.propertyWrong", { n: wrongLine })}
      />
    </>
  )
}

type BodyProblem = NonNullable<DraftProblems["body"]>

function BodyField({ draft, onChange, problem }: FieldsProps & { problem: BodyProblem | undefined }) {
  const { t } = useTranslation()
  const wrong = problem && t(`produce.not.${problem.kind}`, { max: count(MOST_MESSAGES) })
  const load = async (file: File | null) => {
    if (!file) return
    const body = bodyOfFile(new Uint8Array(await file.arrayBuffer()))
    // What was changed while the file was read stays.
    onChange((now) => ({ ...now, ...body }))
  }
  return (
    <Field label={t("produce.body")} error={wrong && (problem.line ? t("produce.inLine", { n: problem.line, wrong }) : wrong)}>
      <Group gap={12} mb={6}>
        <SegmentedControl
          aria-label={t("produce.encoding")}
          value={draft.encoding}
          onChange={(encoding) => onChange({ ...draft, encoding: ENCODINGS.find((each) => each === encoding) ?? "text" })}
          data={ENCODINGS.map((name) => ({ value: name, label: t(`produce.encodings.${name}`) }))}
        />
        <SegmentedControl
          aria-label={t("produce.how")}
          value={draft.sends}
          onChange={(sends) => onChange({ ...draft, sends: SENDS.find((each) => each === sends) ?? "one" })}
          data={SENDS.map((name) => ({ value: name, label: t(`produce.sends.${name}`) }))}
        />
        <FileButton onChange={(file) => void load(file)}>
          {(props) => (
            <Button {...props} variant="subtle" leftSection={<IconFileUpload size={15} stroke={1.6} />}>
              {t("produce.file")}
            </Button>
          )}
        </FileButton>
      </Group>
      <Textarea
        aria-label={t("produce.body")}
        value={draft.body}
        onChange={(event) => onChange({ ...draft, body: event.currentTarget.value })}
        autosize
        minRows={8}
        maxRows={24}
        className={formClasses.code}
      />
    </Field>
  )
}

function ManyFields({ draft, onChange }: FieldsProps) {
  const { t } = useTranslation()
  return (
    <Group gap={12} align="flex-start">
      {draft.sends === "burst" && (
        <NumberField label={t("produce.count")} description={t("produce.countWords", { n: "{{n}}" })} {...COUNT_RANGE} value={draft.count} onChange={(count) => onChange({ ...draft, count })} />
      )}
      <NumberField
        label={t("produce.rate")}
        description={t("produce.rateWords")}
        {...RATE_RANGE}
        isOptional
        value={draft.perSecond}
        onChange={(perSecond) => onChange({ ...draft, perSecond })}
      />
    </Group>
  )
}

const areNumbersRight = ({ sends, count, perSecond }: ProduceDraft): boolean =>
  sends === "one" ||
  ((sends === "lines" || isWithin(count ?? Number.NaN, COUNT_RANGE)) && (perSecond === undefined || isWithin(perSecond, RATE_RANGE)))
