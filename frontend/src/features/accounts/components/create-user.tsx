import { Button, Group, PasswordInput, Select, Stack, TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { DockedDrawer } from "@/components/drawer/docked-drawer"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { asProblem } from "@/lib/problem"
import type { UserInput } from "@/lib/api-types"
import { ROLES, useCreateUser } from "../api/users"

export function CreateUser({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateUser()
  const [input, setInput] = useState<UserInput>({ username: "", role: "viewer", password: "" })
  const refused = create.error ? asProblem(create.error).fields : {}
  const isReady = input.username.trim() !== "" && input.password.length >= 8
  const submit = () =>
    create.mutate(input, {
      onSuccess: () => {
        toastDone(t("access.userCreated", { name: input.username }))
        onClose()
      },
      onError: (error) => toastFailed(t("access.userNotCreated", { name: input.username }), error),
    })
  return (
    <DockedDrawer label={t("access.createUser")} onClose={onClose}>
      <form
        style={{ padding: "0 20px 20px" }}
        onSubmit={(event) => {
          event.preventDefault()
          if (isReady) submit()
        }}
      >
        <Stack gap={14}>
          <h2 style={{ fontSize: 16, fontWeight: 600 }}>{t("access.createUser")}</h2>
          <TextInput
            label={t("access.user")}
            value={input.username}
            error={refused.username}
            autoComplete="off"
            onChange={(event) => setInput({ ...input, username: event.currentTarget.value })}
            autoFocus
          />
          <Select
            label={t("access.role")}
            data={ROLES.map((value) => ({ value, label: t(`access.roles.${value}`) }))}
            value={input.role}
            onChange={(role) => setInput({ ...input, role: (role ?? "viewer") as UserInput["role"] })}
          />
          <PasswordInput
            label={t("settings.newPassword")}
            description={t("settings.passwordRule")}
            value={input.password}
            error={refused.password}
            autoComplete="new-password"
            onChange={(event) => setInput({ ...input, password: event.currentTarget.value })}
          />
          <Group gap={8}>
            <Button type="submit" variant="filled" size="md" disabled={!isReady} loading={create.isPending}>
              {t("access.createUser")}
            </Button>
            <Button variant="subtle" size="md" onClick={onClose}>
              {t("actions.cancel")}
            </Button>
          </Group>
        </Stack>
      </form>
    </DockedDrawer>
  )
}
