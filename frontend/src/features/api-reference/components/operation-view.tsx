import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import type { ApiDocument, Operation, Parameter, Schema } from "../document"
import { type FieldLine, fieldsOf, typeOf } from "../schema"
import classes from "./api-reference.module.css"
import { Method } from "./operation-list"
import { Words } from "./words"

interface OperationViewProps {
  operation: Operation
  document: ApiDocument
}

/** What an operation takes and what it answers. */
export function OperationView({ operation, document }: OperationViewProps) {
  const { t } = useTranslation()
  const { method, path, summary, description, parameters, body, answers } = operation
  return (
    <Panel title={operation.id} note={operation.tag}>
      <div className={classes.view}>
        <p className={classes.address}>
          <Method of={method} />
          <code>{path}</code>
        </p>
        <p>
          <Words of={summary} />
        </p>
        {description && (
          <p className={classes.words}>
            <Words of={description} />
          </p>
        )}
        <Fields title={t("apiReference.parameters")} lines={parameters.map((each) => lineOf(each, document))} />
        <Fields title={t("apiReference.body")} lines={body ? fieldsOf(body, document) : []} />
        {answers.map(({ status, schema }) => (
          <AnswerFields key={status} status={status} schema={schema} document={document} />
        ))}
      </div>
    </Panel>
  )
}

const lineOf = ({ name, in: place, required = false, description = "", schema = {} }: Parameter, document: ApiDocument): FieldLine => ({
  place: name,
  type: `${typeOf(schema, document)}, ${place}`,
  required,
  words: description,
})

/** The fields of one answer, folded away: one reads them after the call. */
function AnswerFields({ status, schema, document }: { status: string; schema: Schema | null; document: ApiDocument }) {
  const { t } = useTranslation()
  const title = status === "default" ? t("apiReference.problem") : t("apiReference.answer", { status })
  if (!schema) return <p className={classes.words}>{title}</p>
  return (
    <details className={classes.answer}>
      <summary>{title}</summary>
      <Fields lines={fieldsOf(schema, document)} />
    </details>
  )
}

function Fields({ title, lines }: { title?: string; lines: FieldLine[] }) {
  const { t } = useTranslation()
  if (lines.length === 0) return null
  return (
    <table className={classes.fields}>
      {title && <caption>{title}</caption>}
      <tbody>
        {lines.map(({ place, type, required, words }) => (
          <tr key={place}>
            <th scope="row">
              {place}
              {required && <em>{t("apiReference.required")}</em>}
            </th>
            <td>
              <code>{type}</code>
              {words && (
                <span>
                  <Words of={words} />
                </span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
