import { IconCircleCheckFilled, IconCircleDashed, IconCircleX } from "@tabler/icons-react"
import i18next from "i18next"
import { asProblem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { failedWhileSending, showToast } from "./show"

/** One fact and one consequence. */
export function toastDone(title: string, message?: string): void {
  showToast({
    role: "status",
    title,
    message,
    icon: <IconCircleCheckFilled size={17} color="var(--ok)" />,
    autoClose: 5_000,
  })
}

/**
 * Errors stay until they are closed, or until the same form is sent again, and carry the request id.
 * What was said of a field that the form marks, one of `marked`, is not said a second time.
 */
export function toastFailed(title: string, error: unknown, marked: readonly string[] = []): void {
  const problem = asProblem(error)
  const fields = Object.keys(problem.fields)
  const isMarked = fields.length > 0 && fields.every((field) => marked.includes(field))
  const id = `failed:${title}`
  failedWhileSending(id)
  showToast({
    id,
    title,
    message: (
      <>
        {isMarked ? i18next.t("states.fieldsMarked") : sentenceOf(problemIn(i18next.t, i18next.language, problem))}
        {problem.requestId && (
          <div className="micro">{i18next.t("states.requestId", { id: problem.requestId })}</div>
        )}
      </>
    ),
    icon: <IconCircleX size={17} stroke={1.6} color="var(--crit)" />,
    autoClose: false,
  })
}

/** It is not known how it ended: its own kind, not an error. */
export function toastUnknown(title: string, message: string): void {
  showToast({
    role: "status",
    title,
    message,
    icon: <IconCircleDashed size={17} stroke={1.6} color="var(--ink-2)" />,
    autoClose: false,
  })
}

/** A detail of the server as a sentence: with a capital where it begins with a plain word, and its stop. */
function sentenceOf(detail: string): string {
  const words = detail.replace(/^[a-z]+(?= )/, (first) => first.charAt(0).toUpperCase() + first.slice(1))
  return /[.!?。！？）]$/.test(words) ? words : `${words}${i18next.language === "zh" ? "。" : "."}`
}
