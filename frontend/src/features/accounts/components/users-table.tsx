import { Button } from "@mantine/core"
import { useMemo, useState } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { QueryPanel } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Time } from "@/components/values/time"
import { useMay, useMe } from "@/hooks/use-rights"
import type { User } from "@/lib/api-types"
import { useDeleteUser } from "../api/delete-user"
import { useUsers } from "../api/get-users"
import { useUpdateUser } from "../api/update-user"
import { ROLES } from "../roles"
import { ResetPassword } from "./reset-password"
import { RolePicker } from "./role-picker"

const column = columnsFor<User>()

export function UsersTable() {
  const { t } = useTranslation()
  const users = useUsers(useMay("admin"))
  const columns = useMemo(
    () => [
      column("name", t("access.user"), { isName: true }, ({ username }) => username),
      column("role", t("access.role"), {}, (user) => <Role user={user} />),
      column("words", t("access.mayDo"), { isSecondary: true, minWidth: 640 }, ({ role }) => {
        const known = ROLES.find((name) => name === role)
        return known ? t(`access.roleWords.${known}`) : ""
      }),
      column("last", t("access.lastLogin"), { align: "end", isSecondary: true, minWidth: 560 }, (user) => <Time at={user.last_login_at} />),
      column("delete", "", { align: "end" }, (user) => (
        <>
          <ResetPassword user={user} />
          <DeleteUser user={user} />
        </>
      )),
    ],
    [t],
  )
  return (
    <QueryPanel query={users} title={t("access.users")} what={t("access.usersFailed")}>
      {(items) => <DataTable natural label={t("access.users")} columns={columns} rows={items} rowId={({ id }) => String(id)} />}
    </QueryPanel>
  )
}

function Role({ user }: { user: User }) {
  const { t } = useTranslation()
  const me = useMe()
  const change = useUpdateUser(user.id)
  return (
    <RolePicker
      isCompact
      value={user}
      disabled={user.id === me?.id}
      onChange={(roles) =>
        change.mutate(
          roles,
          {
            onSuccess: () => toastDone(t("access.roleChanged", { name: user.username })),
            onError: (error) => toastFailed(t("access.roleNotChanged", { name: user.username }), error),
          },
        )
      }
    />
  )
}

function DeleteUser({ user: { id, username } }: { user: User }) {
  const { t } = useTranslation()
  const me = useMe()
  const remove = useDeleteUser()
  const [isAsking, setAsking] = useState(false)
  if (me?.id === id) return <span className="micro">{t("access.you")}</span>
  return (
    <>
      <Button size="xs" variant="subtle" onClick={() => setAsking(true)}>
        {t("actions.delete")}
      </Button>
      <ConfirmDelete
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("access.deleteTitle", { name: username })}
        name={username}
        action={t("access.deleteUser")}
        isBusy={remove.isPending}
        remove={() => remove.mutateAsync(id)}
        done={t("access.userDeleted", { name: username })}
        failed={t("access.userNotDeleted", { name: username })}
      >
        <p>{t("access.deleteWords")}</p>
      </ConfirmDelete>
    </>
  )
}
