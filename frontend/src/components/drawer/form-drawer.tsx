import { Button, Group, Stack } from "@mantine/core"
import { type FormEvent, type ReactNode, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Fillable } from "@/components/forms/lock"
import { formSent } from "@/components/toast/show"
import type { Right } from "@/hooks/use-rights"
import { type CurlRequest, curlOf } from "@/lib/curl"
import { DockedDrawer } from "./docked-drawer"
import classes from "./drawer.module.css"
import { useLeaving } from "./use-leaving"

/** A request is known to be under way only after the next render: until then a second press of Enter is no second wish. */
const UNTIL_BUSY_MS = 300

interface FormDrawerProps {
  title: string
  /** What the button says: the verb, and the name of the thing once it has one. */
  action: string
  /** Without this right the fields are locked, and the reason stands above them. */
  right?: Right
  isReady: boolean
  /** While false, pressing the button sends nothing: it leads to the first field that is marked as wrong. */
  isValid?: boolean
  /** Pressed while not valid: what was not marked until now may be. */
  onInvalid?: () => void
  isBusy: boolean
  onSubmit: () => void
  onClose: () => void
  /** The request that the form sends, shown as a command. */
  request?: CurlRequest
  /** What keeps the form from being sent, beside the button. */
  notice?: ReactNode
  /** Takes the place of the form once it was sent, when there is an answer to read. */
  answer?: ReactNode
  children: ReactNode
}

/** A docked drawer that creates one thing: title, fields, the command, and the button; nothing is sent twice. */
export function FormDrawer({ title, action, right, isReady, isValid = true, onInvalid, isBusy, onSubmit, onClose, request, notice, answer, children }: FormDrawerProps) {
  const { t } = useTranslation()
  const justSent = useRef(false)
  const [isFilled, setFilled] = useState(false)
  const { leave, isAsking, question } = useLeaving(answer ? "answered" : isFilled ? "filled" : null, onClose)
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (!isReady || isBusy || justSent.current) return
    if (!isValid) {
      const fields = event.currentTarget
      onInvalid?.()
      window.setTimeout(() => fields.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
      return
    }
    justSent.current = true
    formSent(justSent)
    window.setTimeout(() => (justSent.current = false), UNTIL_BUSY_MS)
    onSubmit()
  }
  const form = (
    <form onSubmit={submit} onInput={() => setFilled(true)}>
      <Stack gap={14}>
        {children}
        {request && <CodeBlock wrap language="curl" text={curlOf(request)} />}
        {notice}
        <Group gap={8}>
          <Button type="submit" variant="filled" size="md" disabled={!isReady} loading={isBusy}>
            {action}
          </Button>
          <Button variant="subtle" size="md" disabled={isBusy} onClick={onClose}>
            {t("actions.cancel")}
          </Button>
        </Group>
      </Stack>
    </form>
  )
  return (
    // What comes back while the form is gone is told nobody: a secret that was made would be lost.
    <DockedDrawer label={title} isLocked={isBusy || isAsking} onClose={leave}>
      <div className={classes.form}>
        <h2 className={classes.title}>{title}</h2>
        {answer ?? (right ? <Fillable right={right}>{form}</Fillable> : form)}
      </div>
      {question}
    </DockedDrawer>
  )
}
