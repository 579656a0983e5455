import { Button } from "@mantine/core"
import { IconPlus } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { DockedPage } from "@/components/drawer/docked-drawer"
import { NeedsRight } from "@/components/forms/lock"
import { Page } from "@/components/layout/page"
import { currentTab, TabBar } from "@/components/layout/tab-bar"
import { useMay } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"
import { CreateToken } from "./create-token"
import { CreateUser } from "./create-user"
import { RolesPanel } from "./roles-panel"
import { SessionsTable } from "./sessions-table"
import { TokensTable } from "./tokens-table"
import { UsersTable } from "./users-table"

export function AccessPage() {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const isAdmin = useMay("admin")
  const tabs = [{ id: "tokens", label: t("access.tokens") }, ...(isAdmin ? [{ id: "users", label: t("access.users") }, { id: "roles", label: t("roles.title") }] : []), { id: "sessions", label: t("sessions.title") }]
  const tab = currentTab(tabs, state.tab)
  const close = () => change({ new: undefined })
  return (
    <DockedPage
      drawer={
        <>
          {state.new === "token" && <CreateToken onClose={close} />}
          {state.new === "user" && <CreateUser onClose={close} />}
        </>
      }
    >
      <Page
        title={t("nav.access")}
        actions={
          tab === "users" ? (
            <NeedsRight right="admin">
              <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "user" })}>
                {t("access.createUser")}
              </Button>
            </NeedsRight>
          ) : tab !== "tokens" ? undefined : (
            <Button variant="filled" leftSection={<IconPlus size={15} stroke={1.8} />} onClick={() => change({ new: "token" })}>
              {t("access.createToken")}
            </Button>
          )
        }
      >
        <TabBar tabs={tabs} />
        {tab === "tokens" && <TokensTable onCreate={() => change({ new: "token" })} />}
        {tab === "users" && <UsersTable />}
        {tab === "roles" && <RolesPanel />}
        {tab === "sessions" && <SessionsTable />}
      </Page>
    </DockedPage>
  )
}
