import { Button, Group, Modal, Stack, TextInput } from "@mantine/core"
import { type ReactNode, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { formSent } from "@/components/toast/show"
import { useFocusBack } from "@/hooks/use-focus-back"

interface ConfirmDangerProps {
  isOpen: boolean
  onClose: () => void
  title: string
  /** What one types before the button becomes live; nothing to type when it can be undone. */
  name?: string
  action: string
  /** The way out, where to keep the thing could be read as the opposite. */
  back?: string
  isBusy?: boolean
  /** What it would do is not known, or is nothing: the button cannot be pressed. */
  isBlocked?: boolean
  onConfirm: () => void
  children: ReactNode
}

/** The only kind of modal: says what will be lost, and asks for its name. */
export function ConfirmDanger({ isOpen, title, ...question }: ConfirmDangerProps) {
  const { t } = useTranslation()
  useFocusBack(isOpen)
  return (
    <Modal returnFocus={false} closeButtonProps={{ "aria-label": t("actions.close") }} opened={isOpen} onClose={question.onClose} title={title}>
      <Question {...question} />
    </Modal>
  )
}

/** What of a name a field of one line can hold: a name server lists brokers under any name, with line breaks too. */
const asTyped = (name: string) => name.replace(/[\p{C}\s]+/gu, " ").trim()

/** Is made anew each time the modal opens: the name is typed for each deletion. */
function Question({ onClose, name, action, back, isBusy = false, isBlocked = false, onConfirm, children }: Omit<ConfirmDangerProps, "isOpen" | "title">) {
  const { t } = useTranslation()
  const [typed, setTyped] = useState("")
  const form = useRef(null)
  const isNamed = name === undefined || typed === name || asTyped(typed) === asTyped(name)
  const isReady = isNamed && !isBlocked
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!isReady) return
        formSent(form)
        onConfirm()
      }}
    >
      <Stack gap={12}>
        {children}
        {name !== undefined && (
          <TextInput
            label={t("danger.typeName", { name })}
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
            autoComplete="off"
            data-autofocus
          />
        )}
        <Group gap={8} justify="flex-end">
          <Button variant="subtle" onClick={onClose}>
            {back ?? t("actions.keep")}
          </Button>
          <Button type="submit" data-danger disabled={!isReady} loading={isBusy} title={isNamed ? "" : t("danger.nameMissing")}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
