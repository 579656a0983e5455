import { ActionIcon, Menu } from "@mantine/core"
import { IconDots } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { useMay } from "@/hooks/use-rights"
import type { Replica } from "@/lib/api-types"
import type { ReplicaAction } from "../replica-target"
import { ChangeReplica } from "./change-replica"
import classes from "./replicas.module.css"

interface ReplicaMenuProps {
  cluster: string
  broker: string
  replica: Replica
  /** Nobody is master, and nobody will be by itself. */
  isStuck: boolean
  leastNow: number | null
}

/** What may be done with one replica: hand over to it, forget it, or go on from it with a loss. */
export function ReplicaMenu({ cluster, broker, replica, isStuck, leastNow }: ReplicaMenuProps) {
  const { t } = useTranslation()
  const [action, setAction] = useState<ReplicaAction | null>(null)
  const id = replica.broker_id
  const mayChange = useMay("admin")
  const removal = replica.failover?.heard ? "remove-living" : "remove"
  const whyNot = whyNoPromotion(replica)
  if (replica.role === "master") return null
  const button = (
    <ActionIcon variant="subtle" aria-label={t("replicas.actionsOf", { replica: id })}>
      <IconDots size={16} stroke={1.6} />
    </ActionIcon>
  )
  if (!mayChange) return <NeedsRight right="admin">{button}</NeedsRight>
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>{button}</Menu.Target>
        <Menu.Dropdown>
          <Menu.Item disabled={whyNot !== null} onClick={() => setAction("promote")}>
            {t("replicas.actions.promote.open")}
            {whyNot && <small className={classes.whyNot}>{t(`replicas.held.noPromotion.${whyNot}`)}</small>}
          </Menu.Item>
          <Menu.Item onClick={() => setAction(removal)}>{t(`replicas.actions.${removal}.open`)}</Menu.Item>
          {isStuck && <Menu.Item onClick={() => setAction("accept-loss")}>{t("replicas.actions.accept-loss.open")}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {action && <ChangeReplica target={{ cluster, broker, replica: id, action }} leastNow={leastNow} onClose={() => setAction(null)} />}
    </>
  )
}

/** Why a replica cannot be made master by hand; null where it can be, as far as is known. */
function whyNoPromotion({ held, failover }: Replica): "held" | "outOfSet" | "silent" | null {
  if (held) return "held"
  if (!failover?.in_sync) return "outOfSet"
  return failover.heard === false ? "silent" : null
}
