import { type ReactNode, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"

// The key that closes the question is heard by the drawer behind it as well.
const SAME_KEY_MS = 200

interface Leaving {
  /** Closes, or asks first. */
  leave: () => void
  isAsking: boolean
  question: ReactNode
}

/** Asks before what would be lost is closed: by the cross or by Escape, which are pressed in passing. */
export function useLeaving(loses: "filled" | "answered" | null, onClose: () => void): Leaving {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const stayedAt = useRef(0)
  const leave = () => {
    if (Date.now() - stayedAt.current < SAME_KEY_MS) return
    if (loses === null) onClose()
    else setAsking(true)
  }
  const stay = () => {
    stayedAt.current = Date.now()
    setAsking(false)
  }
  const question = (
    <ConfirmDanger isOpen={isAsking && loses !== null} title={t("leaving.title")} action={t("leaving.leave")} back={t("leaving.stay")} onClose={stay} onConfirm={onClose}>
      <p>{loses && t(`leaving.${loses}`)}</p>
    </ConfirmDanger>
  )
  return { leave, isAsking, question }
}
