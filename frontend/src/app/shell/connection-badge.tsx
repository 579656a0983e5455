import { Menu } from "@mantine/core"
import { useQueryClient } from "@tanstack/react-query"
import { IconCheck, IconPlugConnected, IconPlugConnectedX, IconRefresh } from "@tabler/icons-react"
import { useTranslation } from "react-i18next"
import { useOverview } from "@/features/clusters/api/get-overview"
import { useCluster } from "@/hooks/use-cluster"
import { useFormat } from "@/hooks/use-format"
import { useNow } from "@/hooks/use-now"
import { reachable } from "@/lib/api-client"
import { live } from "@/lib/live"
import { REFRESHES, type Refresh, refreshPreference } from "@/lib/preferences"
import { isRefreshed } from "@/lib/query"
import { useStore } from "@/lib/store"
import classes from "./shell.module.css"

/** What the cluster does not tell, in a word or two; null when all that is known of it answers. */
function useLacking(): string | null {
  const { t } = useTranslation()
  const overview = useOverview(useCluster()).data
  if (!overview) return null
  if (overview.brokers_answering === 0) return t("connection.silent")
  return overview.missing.length > 0 ? t("connection.partly", { count: overview.missing.length }) : null
}

function RefreshItems({ chosen }: { chosen: Refresh }) {
  const { t } = useTranslation()
  const cache = useQueryClient()
  const choose = (next: Refresh) => {
    refreshPreference.set(next)
    live.release()
    // The next request of each query keeps the new time.
    void cache.refetchQueries({ type: "active", predicate: isRefreshed })
  }
  return REFRESHES.map((each) => (
    <Menu.Item key={each} onClick={() => choose(each)} rightSection={chosen === each ? <IconCheck size={14} stroke={1.8} /> : undefined}>
      {t(`refresh.${each}`)}
    </Menu.Item>
  ))
}

/** Live (socket), polling (requests only), offline (neither, and since when). */
export function ConnectionBadge() {
  const { t } = useTranslation()
  const format = useFormat()
  const socket = useStore(live.status)
  const gateway = useStore(reachable)
  const now = useNow(5_000)
  const state = socket.state === "open" ? "live" : gateway.ok ? "polling" : "offline"
  const since = state === "offline" ? gateway.since : socket.since
  const lacks = useLacking()
  const refresh = useStore(refreshPreference)
  const isCalm = state === "live" && lacks === null && refresh === "live"
  const Icon = state === "live" ? IconPlugConnected : IconPlugConnectedX
  const isSlower = state !== "offline" && refresh !== "live"
  const shown = isSlower ? t(`refresh.short.${refresh}`) : t(`connection.${state}`)
  return (
    <Menu>
      <Menu.Target>
        <button type="button" className={classes.tool} data-state={state} aria-live="polite">
          <Icon size={16} stroke={1.6} data-tone={isCalm ? "ok" : undefined} aria-hidden />
          <span>{state === "live" && lacks !== null ? lacks : shown}</span>
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className={classes.explained}>
          {state === "live" && isSlower ? t(`refresh.${refresh}`) : t(`connection.${state}Words`, { age: format.duration(Math.max(1_000, now - since)) })}
        </Menu.Label>
        {state !== "live" && (
          <Menu.Item leftSection={<IconRefresh size={15} stroke={1.6} />} onClick={() => live.reconnect()}>
            {t("actions.reconnect")}
          </Menu.Item>
        )}
        <Menu.Divider />
        <RefreshItems chosen={refresh} />
      </Menu.Dropdown>
    </Menu>
  )
}
