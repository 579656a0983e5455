import { useTranslation } from "react-i18next"
import { Callout } from "@/components/layout/panel"
import type { ReplicaChange } from "@/lib/api-types"

/** Where the process of a removed replica is, which nobody stops, and what may be done with its folder. */
export function RemovedProcess({ removed: { address, runs, successor_id: other, folder } }: { removed: NonNullable<ReplicaChange["removed"]> }) {
  const { t } = useTranslation()
  if (address === null) return <p>{t("replicas.removed.never")}</p>
  if (other !== null) return <Callout>{t("replicas.removed.replaced", { address, other })}</Callout>
  return (
    <Callout>
      {t(runs ? "replicas.removed.runs" : "replicas.removed.silent", { address })}{" "}
      {folder === null ? (
        t("replicas.removed.folderUnknown")
      ) : (
        <>
          {t("replicas.removed.folder")} <span className="mono">{folder}</span>
        </>
      )}
    </Callout>
  )
}
