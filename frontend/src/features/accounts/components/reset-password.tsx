import { Button, Checkbox, Group, Modal, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { PasswordField } from "@/components/forms/password-field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { refusedFields } from "@/lib/problem"
import type { User } from "@/lib/api-types"
import { useUpdateUser } from "../api/update-user"

const SHORTEST = 8

/** A new password by an admin; it signs the user out everywhere, and revokes the user's tokens if asked. */
export function ResetPassword({ user: { id, username } }: { user: User }) {
  const { t } = useTranslation()
  const reset = useUpdateUser(id)
  const [isOpen, setOpen] = useState(false)
  const [password, setPassword] = useState("")
  const [revokes, setRevokes] = useState(false)
  const close = () => {
    setOpen(false)
    setPassword("")
    setRevokes(false)
  }
  const submit = () =>
    reset.mutate(
      { password, revoke_tokens: revokes },
      {
        onSuccess: () => {
          toastDone(t("access.passwordReset", { name: username }))
          close()
        },
        onError: (error) => toastFailed(t("access.passwordNotReset", { name: username }), error),
      },
    )
  return (
    <>
      <Button size="xs" variant="subtle" onClick={() => setOpen(true)}>
        {t("access.reset")}
      </Button>
      <Modal closeButtonProps={{ "aria-label": t("actions.close") }} opened={isOpen} onClose={close} title={t("access.resetTitle", { name: username })}>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (password.length >= SHORTEST) submit()
          }}
        >
          <Stack gap={12}>
            <PasswordField
              label={t("settings.newPassword")}
              description={t("settings.passwordRule")}
              value={password}
              error={refusedFields(reset, { password }).password}
              autoComplete="new-password"
              onChange={(event) => setPassword(event.currentTarget.value)}
              data-autofocus
            />
            <p className="dense">{t("access.resetWords")}</p>
            <Checkbox label={t("access.revokeAll")} checked={revokes} onChange={(event) => setRevokes(event.currentTarget.checked)} />
            <Group gap={8} justify="flex-end">
              <Button variant="subtle" onClick={close}>
                {t("actions.cancel")}
              </Button>
              <Button type="submit" variant="filled" disabled={password.length < SHORTEST} loading={reset.isPending}>
                {t("access.reset")}
              </Button>
            </Group>
          </Stack>
        </form>
      </Modal>
    </>
  )
}
