import { Button } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { QueryPanel } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Ago, Time } from "@/components/values/time"
import { useMay } from "@/hooks/use-rights"
import type { OpenSession } from "@/lib/api-types"
import { shortAgent } from "../agent"
import { useEndOtherSessions } from "../api/end-other-sessions"
import { useEndSession } from "../api/end-session"
import { useSessions } from "../api/get-sessions"

const column = columnsFor<OpenSession>()

/** Where one is signed in; an admin sees everybody. */
export function SessionsTable() {
  const { t } = useTranslation()
  const everybody = useMay("admin")
  const sessions = useSessions(everybody)
  const columns = useMemo(
    () => [
      column("user", t("access.user"), { isName: true }, ({ user }) => user),
      column("address", t("sessions.address"), {}, ({ address }) => address ?? "—"),
      column("agent", t("sessions.agent"), { isSecondary: true, minWidth: 640 }, ({ user_agent }) => <span title={user_agent ?? undefined}>{user_agent ? shortAgent(user_agent) : "—"}</span>),
      column("since", t("sessions.since"), { align: "end", isSecondary: true, minWidth: 760 }, ({ since }) => <Time at={since} />),
      column("seen", t("sessions.seen"), { align: "end" }, ({ last_seen_at }) => (last_seen_at ? <Ago at={last_seen_at} /> : "—")),
      column("end", "", { align: "end" }, (session) => (session.current ? <span className="micro">{t("sessions.current")}</span> : <End session={session} everybody={everybody} />)),
    ],
    [t, everybody],
  )
  return (
    <QueryPanel query={sessions} title={t("sessions.title")} note={t("sessions.note")} what={t("sessions.failed")} actions={<EndOthers />}>
      {(items) => <DataTable natural label={t("sessions.title")} columns={columns} rows={items} rowId={({ id }) => id} />}
    </QueryPanel>
  )
}

function End({ session, everybody }: { session: OpenSession; everybody: boolean }) {
  const { t } = useTranslation()
  const end = useEndSession(everybody)
  return (
    <Button
      size="xs"
      variant="subtle"
      loading={end.isPending}
      onClick={() =>
        end.mutate(session.id, {
          onSuccess: () => toastDone(t("sessions.ended", { name: session.user })),
          onError: (error) => toastFailed(t("sessions.notEnded", { name: session.user }), error),
        })
      }
    >
      {t("sessions.end")}
    </Button>
  )
}

function EndOthers() {
  const { t } = useTranslation()
  const end = useEndOtherSessions()
  return (
    <Button
      size="xs"
      loading={end.isPending}
      onClick={() =>
        end.mutate(undefined, {
          onSuccess: ({ ended }) => toastDone(t("sessions.othersEnded", { count: ended })),
          onError: (error) => toastFailed(t("sessions.othersNotEnded"), error),
        })
      }
    >
      {t("sessions.endOthers")}
    </Button>
  )
}
