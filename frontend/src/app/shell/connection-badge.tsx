import { Menu } from "@mantine/core"
import { IconPlugConnected, IconPlugConnectedX, IconRefresh } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { reachable } from "@/lib/api-client"
import { live } from "@/lib/live"
import { useStore } from "@/lib/store"
import classes from "./shell.module.css"

/** Live (socket), polling (requests only), offline (neither, and since when). */
export function ConnectionBadge() {
  const { t } = useTranslation()
  const format = useFormat()
  const socket = useStore(live.status)
  const gateway = useStore(reachable)
  const now = useNow(5_000)
  const state = socket.state === "open" ? "live" : gateway.ok ? "polling" : "offline"
  const since = state === "offline" ? gateway.since : socket.since
  const Icon = state === "live" ? IconPlugConnected : IconPlugConnectedX
  return (
    <Menu>
      <Menu.Target>
        <button type="button" className={classes.tool} data-state={state} aria-live="polite">
          <Icon size={16} stroke={1.6} data-tone={state === "live" ? "ok" : undefined} aria-hidden />
          <span>{t(`connection.${state}`)}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label style={{ maxWidth: 260, whiteSpace: "normal" }}>
          {t(`connection.${state}Words`, { age: format.duration(Math.max(1_000, now - since)) })}
        </Menu.Label>
        {state !== "live" && (
          <Menu.Item leftSection={<IconRefresh size={15} stroke={1.6} />} onClick={() => live.reconnect()}>
            {t("actions.reconnect")}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  )
}
