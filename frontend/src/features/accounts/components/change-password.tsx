import { Button, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { PasswordField } from "@/components/forms/password-field"
import { Panel } from "@/components/layout/panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { refusedFields } from "@/lib/problem"
import { useChangePassword } from "../api/change-password"

const SHORTEST = 8

export function ChangePassword() {
  const { t } = useTranslation()
  const change = useChangePassword()
  const [current, setCurrent] = useState("")
  const [next, setNext] = useState("")
  const refused = refusedFields(change, { current, new: next })
  const submit = () =>
    change.mutate(
      { current, new: next },
      {
        onSuccess: () => {
          setCurrent("")
          setNext("")
          toastDone(t("settings.passwordChanged"))
        },
        onError: (error) => toastFailed(t("settings.passwordNotChanged"), error),
      },
    )
  return (
    <Panel title={t("settings.password")}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Stack gap={12} p={14}>
          <PasswordField
            label={t("settings.currentPassword")}
            value={current}
            error={refused.current}
            autoComplete="current-password"
            onChange={(event) => setCurrent(event.currentTarget.value)}
          />
          <PasswordField
            label={t("settings.newPassword")}
            description={t("settings.passwordRule")}
            value={next}
            error={refused.new}
            autoComplete="new-password"
            onChange={(event) => setNext(event.currentTarget.value)}
          />
          <Button type="submit" disabled={current === "" || next.length < SHORTEST} loading={change.isPending} w="max-content">
            {t("settings.changePassword")}
          </Button>
        </Stack>
      </form>
    </Panel>
  )
}
