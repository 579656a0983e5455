import { useRouter } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import classes from "./route-failed.module.css"

/** A page that could not be shown at all. */
export function RouteFailed({ error }: { error: unknown }) {
  const { t } = useTranslation()
  const router = useRouter()
  return (
    <div className={classes.failed}>
      <Panel>
        <Failed what={t("notFound.failed")} error={error} retry={() => void router.invalidate()} />
      </Panel>
    </div>
  )
}
