import type { ReactNode } from "react"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { ConfirmDanger } from "./confirm-danger"

interface ConfirmDeleteProps {
  isOpen: boolean
  onClose: () => void
  title: string
  /** What one types before the button becomes live; nothing to type when it can be made again. */
  name?: string
  action: string
  isBusy: boolean
  /** Sends the deletion; its promise ends with the answer of the server. */
  remove: () => Promise<unknown>
  /** What the toasts say of how it ended. */
  done: string
  failed: string
  /** What is lost. */
  children: ReactNode
}

/** Asks before one thing is deleted, and says how that ended. */
export function ConfirmDelete({ remove, done, failed, ...question }: ConfirmDeleteProps) {
  // By the promise: the row that asked is often gone before the answer is heard.
  const confirm = () =>
    void remove().then(
      () => {
        question.onClose()
        toastDone(done)
      },
      (error: unknown) => toastFailed(failed, error),
    )
  return <ConfirmDanger {...question} onConfirm={confirm} />
}
