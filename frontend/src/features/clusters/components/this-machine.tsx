import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Definitions, Panel } from "@/components/layout/panel"
import { Unknown } from "@/components/values/num"
import { env } from "@/config/env"
import { paths } from "@/config/paths"
import { bytes } from "@/lib/format"
import { useClusters } from "../api/get-clusters"
import { useOverview } from "../api/get-overview"

/** Where programs connect. */
export function ThisMachine({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const known = useClusters().data?.find(({ name }) => name === cluster)
  const broker = useOverview(cluster).data?.brokers[0]
  const stored = broker?.commit_log_bytes ?? null
  return (
    <Panel title={t("machine.title")}>
      <Definitions
        items={[
          [t("machine.nameServer"), <span className="mono">{known ? known.name_servers.join(t("list.comma")) : "—"}</span>],
          [t("machine.broker"), <span className="mono">{broker?.address ?? "—"}</span>],
          ["HTTP", <span className="mono">{window.location.host}</span>],
          [t("machine.store"), stored === null ? <Unknown /> : t("machine.used", { size: bytes(stored) })],
          [t("machine.token"), <Link to="/access">{t("machine.createToken")}</Link>],
          [
            "API",
            <a href={paths.apiDocs} target="_blank" rel="noreferrer">
              {env.origin}{paths.apiDocs}
            </a>,
          ],
        ]}
      />
    </Panel>
  )
}
