import { Menu } from "@mantine/core"
import { IconLogout, IconSettings } from "@tabler/icons-react"
import { useNavigate } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { useLogout } from "@/features/auth/api/logout"
import { useMe } from "@/hooks/use-rights"
import classes from "./shell.module.css"

export function UserMenu() {
  const { t } = useTranslation()
  const me = useMe()
  const navigate = useNavigate()
  const logout = useLogout(() => navigate({ to: "/login" }))
  if (!me) return null
  return (
    <Menu width={190}>
      <Menu.Target>
        <button type="button" className={classes.avatar} aria-label={t("user.menu", { name: me.username })} data-initials={me.username.slice(0, 2).toUpperCase()} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          {me.username} · {[me.role, ...me.own_roles].filter(Boolean).join(", ")}
        </Menu.Label>
        <Menu.Item leftSection={<IconSettings size={15} stroke={1.6} />} onClick={() => void navigate({ to: "/settings" })}>
          {t("nav.settings")}
        </Menu.Item>
        <Menu.Item
          leftSection={<IconLogout size={15} stroke={1.6} />}
          onClick={() => logout.mutate()}
        >
          {t("user.signOut")}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
