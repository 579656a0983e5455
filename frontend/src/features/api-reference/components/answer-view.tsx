import { useTranslation } from "react-i18next"
import { Badge } from "@/components/badges/badge"
import { count } from "@/lib/format"
import { CodeBlock } from "@/components/code/code-block"
import type { Answer } from "../api/send-call"
import classes from "./api-reference.module.css"

/** More than this of an answer is not shown; the browser would stand still. */
const MOST_SHOWN = 200_000

/** What came back: status, time, headers, body. */
export function AnswerView({ answer: { status, took_ms, headers, text } }: { answer: Answer }) {
  const { t } = useTranslation()
  const shown = pretty(text).slice(0, MOST_SHOWN)
  return (
    <section className={classes.came} aria-live="polite" aria-label={t("apiReference.came")}>
      <p>
        <Badge tone={status < 300 ? "ok" : status < 500 ? "warn" : "crit"}>{String(status)}</Badge>
        <span className="micro">{t("apiReference.took", { ms: count(took_ms), bytes: count(new Blob([text]).size) })}</span>
      </p>
      <details className={classes.answer}>
        <summary>{t("apiReference.headers", { n: headers.length })}</summary>
        <CodeBlock text={headers.map(([name, value]) => `${name}: ${value}`).join("\n")} />
      </details>
      {text === "" ? <p className="micro">{t("apiReference.noBody")}</p> : <CodeBlock language="json" text={shown} copy={text} wrap label={t("apiReference.answerBody")} />}
      {shown.length === MOST_SHOWN && <p className="micro">{t("apiReference.cut")}</p>}
    </section>
  )
}

/** JSON with indents; numbers too large for JavaScript stay as they came, so such a text is left as it is. */
function pretty(text: string): string {
  if (/\d{16,}/.test(text)) return text
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
