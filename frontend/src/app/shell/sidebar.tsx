import { ActionIcon, Tooltip } from "@mantine/core"
import { IconKeyboard, IconQuestionMark } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Logo } from "@/components/brand/logo"
import { env } from "@/config/env"
import { paths } from "@/config/paths"
import { useAlertCounts } from "@/features/alerts/api/get-counts"
import { useOverview } from "@/features/clusters/api/get-overview"
import { useRunningJobs } from "@/features/jobs/api/get-jobs"
import { useCluster } from "@/hooks/use-cluster"
import { useMe } from "@/hooks/use-rights"
import { count } from "@/lib/format"
import { ClusterMenu } from "./cluster-menu"
import { type NavEntry, navigation } from "./navigation"
import classes from "./shell.module.css"

interface SidebarProps {
  onKeys: () => void
}

export function Sidebar({ onKeys }: SidebarProps) {
  const { t } = useTranslation()
  const rights = useMe()?.rights ?? []
  return (
    <aside className={classes.sidebar}>
      <Link to="/" className={classes.brand}>
        <Logo />
        <span>Gantry</span>
      </Link>
      <ClusterMenu />
      <nav className={classes.nav} aria-label={t("nav.label")}>
        {navigation.map(({ id, entries }) => (
          <div key={id}>
            <div className={classes.group}>{t(`nav.sections.${id}`)}</div>
            {entries
              .filter(({ right }) => right === null || rights.includes(right))
              .map((entry) => (
                <Entry key={entry.id} {...entry} />
              ))}
          </div>
        ))}
      </nav>
      <footer className={classes.sidefoot}>
        <span>Gantry {env.version}</span>
        <Tooltip label={t("keys.title")}>
          <ActionIcon size={24} aria-label={t("keys.title")} onClick={onKeys}>
            <IconKeyboard size={16} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
        <Tooltip label={t("nav.apiDocs")}>
          <a className={classes.help} href={paths.apiDocs} target="_blank" rel="noreferrer" aria-label={t("nav.apiDocs")}>
            <IconQuestionMark size={13} stroke={1.8} aria-hidden />
          </a>
        </Tooltip>
      </footer>
    </aside>
  )
}

function Entry({ id, to, icon: EntryIcon }: NavEntry) {
  const { t } = useTranslation()
  const number = useCountOf(id)
  return (
    <Link to={to} className={classes.entry} activeOptions={{ exact: to === "/", includeSearch: false }} title={t(`nav.${id}`)}>
      <EntryIcon size={16} stroke={1.6} aria-hidden />
      <span>{t(`nav.${id}`)}</span>
      {number !== null && number > 0 && <small data-alarm={id === "alerts" || undefined}>{count(number)}</small>}
    </Link>
  )
}

/** The number beside an entry; null where there is none or it is not known. */
function useCountOf(id: NavEntry["id"]): number | null {
  const overview = useOverview(useCluster()).data
  const jobs = useRunningJobs().data
  const alerts = useAlertCounts().data
  if (id === "alerts") return alerts?.firing ?? null
  if (id === "topics") return overview?.topics ?? null
  if (id === "groups") return overview?.groups ?? null
  if (id === "jobs") return jobs?.length ?? null
  return null
}
