import { TextInput } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { FormDrawer } from "@/components/drawer/form-drawer"
import { PasswordField } from "@/components/forms/password-field"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { refusedFields } from "@/lib/problem"
import type { User, UserInput } from "@/lib/api-types"
import { useCreateUser } from "../api/create-user"
import { RolePicker } from "./role-picker"

/** As the API takes it. */
const USER_NAME = /^[\p{L}\p{N}_.@+-]{1,150}$/u

export function CreateUser({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation()
  const create = useCreateUser()
  const [input, setInput] = useState<UserInput & Pick<User, "role" | "own_roles">>({ username: "", role: "viewer", own_roles: [], password: "" })
  const refused = refusedFields(create, input)
  const isNamed = USER_NAME.test(input.username)
  const isReady = isNamed && input.password.length >= 8 && (input.role !== null || input.own_roles.length > 0)
  const submit = () =>
    create.mutate(input, {
      onSuccess: () => {
        toastDone(t("access.userCreated", { name: input.username }))
        onClose()
      },
      onError: (error) => toastFailed(t("access.userNotCreated", { name: input.username }), error, ["username", "password"]),
    })
  return (
    <FormDrawer title={t("access.createUser")} action={t("access.createUser")} right="admin" isReady={isReady} isBusy={create.isPending} onSubmit={submit} onClose={onClose}>
      <TextInput
        label={t("access.user")}
        value={input.username}
        description={t("access.userRule")}
        error={refused.username ?? (input.username !== "" && !isNamed ? t("access.userWrong") : null)}
        autoComplete="off"
        onChange={(event) => setInput({ ...input, username: event.currentTarget.value })}
        autoFocus
      />
      <RolePicker value={input} onChange={(roles) => setInput({ ...input, ...roles })} />
      <PasswordField
        label={t("settings.newPassword")}
        description={t("settings.passwordRule")}
        value={input.password}
        error={refused.password}
        autoComplete="new-password"
        onChange={(event) => setInput({ ...input, password: event.currentTarget.value })}
      />
    </FormDrawer>
  )
}
