import { IconCircleCheckFilled, IconCircleDashed, IconCircleX } from "@tabler/icons-react"
import i18next from "i18next"
import { asProblem } from "@/lib/problem"
import { problemIn } from "@/lib/reasons"
import { showToast } from "./show"

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

/** Errors stay until they are closed and carry the request id. */
export function toastFailed(title: string, error: unknown): void {
  const problem = asProblem(error)
  const request = problem.requestId ? ` ${i18next.t("states.requestId", { id: problem.requestId })}` : ""
  showToast({
    title,
    message: `${problemIn(i18next.t, i18next.language, problem)}${request}`,
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
