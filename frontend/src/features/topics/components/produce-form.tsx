import { Button, Group, SegmentedControl, Select, Stack, Textarea, TextInput } from "@mantine/core"
import { IconSend } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Field } from "@/components/forms/field"
import formClasses from "@/components/forms/forms.module.css"
import { Fillable, NeedsRight } from "@/components/forms/lock"
import { Columns } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { toastFailed, toastUnknown } from "@/components/toast/toast"
import { paths } from "@/config/paths"
import { useFormat } from "@/hooks/use-format"
import { curlOf } from "@/lib/curl"
import { asProblem, Problem } from "@/lib/problem"
import { useProduce } from "../api/produce"
import { DELAY_LEVELS_MS, EMPTY_DRAFT, messageOf, problemsOf, type ProduceDraft } from "../produce-draft"
import { ProduceResults, type SendOutcome, type SentMessage } from "./produce-results"

/** Whether the message may have been stored all the same: the broker, or the gateway, took it and did not answer. */
const isUnsure = ({ status }: Problem): boolean => status === 504 || status === 0

/** Left the message, right the request it becomes and what came of those already sent. */
export function ProduceForm({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const [draft, setDraft] = useState(EMPTY_DRAFT)
  const [sent, setSent] = useState<SentMessage[]>([])
  const produce = useProduce(cluster, topic)
  const message = messageOf(draft)
  const problems = problemsOf(draft)
  const note = (result: SendOutcome, startedAt: number) =>
    setSent((known) => [{ ...result, id: known.length, elapsedMs: Math.round(performance.now() - startedAt) }, ...known].slice(0, 20))
  const send = () => {
    const startedAt = performance.now()
    produce.mutate(message, {
      onSuccess: ({ results }) => {
        for (const { problem, ...result } of results) note({ ...result, problem: problem ? new Problem(500, problem) : null }, startedAt)
      },
      onError: (error) => {
        const problem = asProblem(error)
        if (!isUnsure(problem)) {
          note({ status: "failed", problem }, startedAt)
          return toastFailed(t("produce.failed"), error)
        }
        note({ status: "unknown", problem: null }, startedAt)
        toastUnknown(t("produce.unknown"), t("produce.unknownNext", { key: draft.keys || t("produce.noKey") }))
      },
    })
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
                send()
              }}
            >
              <Stack gap={14} p={14}>
                <DraftFields draft={draft} onChange={setDraft} wrongLine={problems.properties} />
                <BodyField draft={draft} onChange={setDraft} problem={problems.body} />
                <NeedsRight right="produce">
                  <Button
                    type="submit"
                    variant="filled"
                    size="md"
                    leftSection={<IconSend size={15} stroke={1.6} />}
                    disabled={problems.body !== undefined || problems.properties !== undefined}
                    loading={produce.isPending}
                  >
                    {t("produce.send", { topic })}
                  </Button>
                </NeedsRight>
              </Stack>
            </form>
          </Panel>
        </Fillable>
      }
      side={
        <>
          <Panel title={t("request.title")} note={t("request.sentWhen", { action: t("produce.send", { topic }) })}>
            <CodeBlock
              plain
              wrap
              language="curl"
              text={curlOf({ method: "POST", path: paths.topicMessages(cluster, topic), body: { messages: [message] } })}
            />
          </Panel>
          <ProduceResults topic={topic} sent={sent} />
        </>
      }
    />
  )
}

interface FieldsProps {
  draft: ProduceDraft
  onChange: (draft: ProduceDraft) => void
}

function DraftFields({ draft, onChange, wrongLine }: FieldsProps & { wrongLine: number | undefined }) {
  const { t } = useTranslation()
  const format = useFormat()
  const set = (field: keyof ProduceDraft) => (event: { currentTarget: { value: string } }) =>
    onChange({ ...draft, [field]: event.currentTarget.value })
  return (
    <>
      <Group gap={12} grow align="flex-end">
        <TextInput label={t("produce.keys")} description={t("produce.keysWords")} value={draft.keys} onChange={set("keys")} />
        <TextInput label={t("produce.tag")} description={t("produce.tagWords")} value={draft.tag} onChange={set("tag")} />
        <Select
          label={t("produce.delay")}
          description={t("produce.delayWords")}
          value={draft.delayMs}
          onChange={(delayMs) => onChange({ ...draft, delayMs: delayMs ?? "" })}
          data={[
            { value: "", label: t("produce.atOnce") },
            ...DELAY_LEVELS_MS.map((ms) => ({ value: String(ms), label: format.duration(ms) })),
          ]}
        />
      </Group>
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

function BodyField({ draft, onChange, problem }: FieldsProps & { problem: "json" | "base64" | undefined }) {
  const { t } = useTranslation()
  return (
    <Field label={t("produce.body")} error={problem && t(`produce.not.${problem}`)}>
      <SegmentedControl
        mb={6}
        value={draft.encoding}
        onChange={(encoding) => onChange({ ...draft, encoding: encoding as ProduceDraft["encoding"] })}
        data={(["json", "text", "base64"] as const).map((name) => ({ value: name, label: t(`produce.encodings.${name}`) }))}
      />
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
