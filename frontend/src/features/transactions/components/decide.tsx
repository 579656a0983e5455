import { Button, TextInput } from "@mantine/core"
import { IconArrowBackUp, IconCheck, IconRefresh } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { TransactionDetail } from "@/lib/api-types"
import { useCheckAgain } from "../api/check-again"
import { type Decision, useDecide } from "../api/decide"
import classes from "./transactions.module.css"

interface DecideProps {
  cluster: string
  id: string
  found: TransactionDetail
}

/** Commit, roll back, or ask the producers again: for what is not decided. */
export function Decide({ cluster, id, found }: DecideProps) {
  const { t } = useTranslation()
  const [asked, ask] = useState<Decision | null>(null)
  const check = useCheckAgain(cluster)
  if (found.state === "committed" || found.state === "rolled_back") return null
  const again = () =>
    check.mutate(id, {
      onSuccess: ({ producer_connected: is }) => toastDone(t("transactions.didCheck"), t(is === false ? "transactions.didCheckLater" : "transactions.didCheckNow", { group: found.group })),
      onError: (error) => toastFailed(t("transactions.checkFailed"), error),
    })
  return (
    <section className={classes.section}>
      <h2>{t("transactions.byHand")}</h2>
      <div className={classes.buttons}>
        <NeedsRight right="produce">
          <Button size="xs" leftSection={<IconCheck size={14} stroke={1.6} />} onClick={() => ask("commit")}>
            {t("transactions.commit")}
          </Button>
        </NeedsRight>
        <NeedsRight right="produce">
          <Button size="xs" data-danger leftSection={<IconArrowBackUp size={14} stroke={1.6} />} onClick={() => ask("rollback")}>
            {t("transactions.rollback")}
          </Button>
        </NeedsRight>
        <NeedsRight right="produce">
          <Button size="xs" variant="subtle" leftSection={<IconRefresh size={14} stroke={1.6} />} loading={check.isPending} onClick={again}>
            {t("transactions.checkAgain")}
          </Button>
        </NeedsRight>
      </div>
      {asked && <Confirm cluster={cluster} id={id} found={found} decision={asked} onClose={() => ask(null)} />}
    </section>
  )
}

/** Says what the decision means before it is made, and asks for the reason that the audit keeps. */
function Confirm({ cluster, id, found, decision, onClose }: DecideProps & { decision: Decision; onClose: () => void }) {
  const { t } = useTranslation()
  const [reason, setReason] = useState("")
  const decide = useDecide(cluster)
  const confirm = () =>
    decide.mutate(
      { id, decision, reason: reason.trim() },
      {
        onSuccess: () => {
          toastDone(t(`transactions.did.${decision}`), t(`transactions.didFact.${decision}`, { topic: found.topic }))
          onClose()
        },
        onError: (error) => {
          onClose()
          toastFailed(t("transactions.decideFailed"), error)
        },
      },
    )
  return (
    <ConfirmDanger isOpen onClose={onClose} title={t(`transactions.ask.${decision}`)} action={t(`transactions.${decision}`)} back={t("transactions.leave")} isBusy={decide.isPending} onConfirm={confirm}>
      <p>{t(`transactions.means.${decision}`, { topic: found.topic, group: found.group })}</p>
      <TextInput label={t("transactions.reason")} description={t("transactions.reasonHint")} maxLength={1000} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
    </ConfirmDanger>
  )
}
