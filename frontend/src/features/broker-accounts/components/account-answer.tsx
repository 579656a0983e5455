import { Button, Stack } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Callout } from "@/components/layout/panel"
import { Outcomes } from "@/components/toast/outcomes"
import { toastDone, toastFailed } from "@/components/toast/toast"
import type { BrokerAccountChange, BrokerAccountChanged, BrokerOutcome } from "@/lib/api-types"
import { useUpdateAccount } from "../api/update-account"

const isPartly = ({ brokers }: { brokers: readonly BrokerOutcome[] }) => brokers.some(({ done }) => !done)

/** Whether there is something to read before the form goes: a secret, or a broker that did not make the change. */
export const hasNews = (answer: BrokerAccountChanged): boolean => answer.secret_key !== null || isPartly(answer)

interface AccountAnswerProps {
  cluster: string
  answer: BrokerAccountChanged
  /** What was sent, for the brokers that missed it. */
  sent: Omit<BrokerAccountChange, "new_secret">
  onClose: () => void
}

/** A secret that is shown only now, and the brokers that lack the change, which can be sent again with that secret. */
export function AccountAnswer({ cluster, answer: first, sent, onClose }: AccountAnswerProps) {
  const { t } = useTranslation()
  const [answer, setAnswer] = useState(first)
  const { access_key: key, secret_key: made } = first
  const update = useUpdateAccount(cluster, key)
  const again = () =>
    update.mutate(
      { ...sent, new_secret: false, ...(made !== null && { secret_key: made }), etag: answer.etag },
      {
        onSuccess: (now) => {
          setAnswer(now)
          if (isPartly(now)) return
          toastDone(t("brokerAccounts.caughtUp", { key }))
          if (made === null) onClose()
        },
        onError: (error) => toastFailed(t("brokerAccounts.notChanged", { key }), error),
      },
    )
  return (
    <Stack gap={12}>
      {made !== null && (
        <>
          <Callout>
            <b>{t("brokerAccounts.onceTitle")}</b> {t("brokerAccounts.onceWords")}
          </Callout>
          <CodeBlock wrap text={made} label={t("brokerAccounts.secret")} />
          <CodeBlock wrap text={`accessKey: ${key}\nsecretKey: ${made}`} label="tools.yml" />
        </>
      )}
      <Partly brokers={answer.brokers} isBusy={update.isPending} onAgain={again} />
      <Button onClick={onClose}>{t(made === null ? "actions.close" : "brokerAccounts.kept")}</Button>
    </Stack>
  )
}

interface PartlyProps {
  brokers: readonly BrokerOutcome[]
  isBusy: boolean
  onAgain: () => void
}

/** Who made a change and who did not, with the offer to catch up; nothing where all did. */
export function Partly({ brokers, isBusy, onAgain }: PartlyProps) {
  const { t } = useTranslation()
  if (!isPartly({ brokers })) return null
  return (
    <Callout tone="crit">
      <p>{t("brokerAccounts.partly")}</p>
      <Outcomes brokers={brokers} />
      <Button size="xs" loading={isBusy} onClick={onAgain}>
        {t("partly.again")}
      </Button>
    </Callout>
  )
}
