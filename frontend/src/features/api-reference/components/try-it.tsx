import { Button, Textarea, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Callout, Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { useCluster } from "@/hooks/use-cluster"
import { useSendCall } from "../api/send-call"
import type { Operation, Parameter } from "../document"
import { callOf, type Draft, keyOf, lackingOf } from "../request"
import { AnswerView } from "./answer-view"
import classes from "./api-reference.module.css"
import { Snippets } from "./snippets"

/** A form that makes the call as the one who is signed in, and the same call as a program. */
export function TryIt({ operation }: { operation: Operation }) {
  const { t } = useTranslation()
  const cluster = useCluster()
  const [draft, setDraft] = useState<Draft>(() => beginning(operation, cluster))
  const sending = useSendCall()
  const call = callOf(operation, draft)
  const lacking = lackingOf(operation, draft)
  const fault = bodyFault(draft.body)
  const set = (key: string, value: string) => setDraft({ ...draft, values: { ...draft.values, [key]: value } })
  return (
    <Panel title={t("apiReference.try")} note={t("apiReference.tryWords")}>
      <form
        className={classes.try}
        onSubmit={(event) => {
          event.preventDefault()
          sending.mutate(call)
        }}
      >
        {operation.method !== "GET" && <Callout>{t("apiReference.forReal")}</Callout>}
        <div className={classes.values}>
          {operation.parameters.map((each) => (
            <ParameterField key={keyOf(each)} parameter={each} value={draft.values[keyOf(each)] ?? ""} onChange={(value) => set(keyOf(each), value)} />
          ))}
        </div>
        {operation.body && (
          <Textarea
            label={t("apiReference.body")}
            autosize
            minRows={4}
            maxRows={20}
            classNames={{ input: "mono" }}
            value={draft.body}
            error={fault && t("apiReference.notJson", { fault })}
            onChange={(event) => setDraft({ ...draft, body: event.currentTarget.value })}
          />
        )}
        <div className={classes.send}>
          <Button type="submit" disabled={lacking.length > 0} loading={sending.isPending}>
            {t("apiReference.send", { method: operation.method })}
          </Button>
          {lacking.length > 0 && <span className="micro">{t("apiReference.lacking", { names: lacking.join(t("list.comma")) })}</span>}
        </div>
        {sending.error && <Failed what={t("apiReference.notSent")} error={sending.error} />}
        {sending.data && <AnswerView answer={sending.data} />}
        <Snippets call={call} />
      </form>
    </Panel>
  )
}

interface ParameterFieldProps {
  parameter: Parameter
  value: string
  onChange: (value: string) => void
}

const ParameterField = ({ parameter: { name, in: place, required = false }, value, onChange }: ParameterFieldProps) => (
  <TextInput label={name} description={place} required={required} value={value} classNames={{ input: "mono" }} onChange={(event) => onChange(event.currentTarget.value)} />
)

/** The form as it opens: the cluster of the page, and a body with what is required. */
function beginning({ parameters, body, example }: Operation, cluster: string): Draft {
  const ofCluster = parameters.find(({ name, in: place }) => place === "path" && name === "cluster")
  return {
    values: ofCluster ? { [keyOf(ofCluster)]: cluster } : {},
    body: body ? JSON.stringify(example, null, 2) : "",
  }
}

/** Why a body is no JSON; it may be sent all the same, to see what the gateway says. */
function bodyFault(body: string): string | null {
  if (body.trim() === "") return null
  try {
    JSON.parse(body)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
