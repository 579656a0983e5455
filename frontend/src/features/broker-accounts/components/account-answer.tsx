import { Button, Stack } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { CodeBlock } from "@/components/code/code-block"
import { Callout } from "@/components/layout/panel"
import type { BrokerAccountChanged, BrokerOutcome } from "@/lib/api-types"
import { reasonIn } from "@/lib/reasons"

/** Whether there is something to read before the form goes: a secret, or a broker that did not make the change. */
export const hasNews = ({ secret_key: secret, brokers }: BrokerAccountChanged): boolean => secret !== null || brokers.some(({ done }) => !done)

interface AccountAnswerProps {
  answer: BrokerAccountChanged
  onClose: () => void
}

/** A secret that is shown only now, and the brokers that lack the change. */
export function AccountAnswer({ answer: { access_key: key, secret_key: secret, brokers }, onClose }: AccountAnswerProps) {
  const { t } = useTranslation()
  return (
    <Stack gap={12}>
      {secret !== null && (
        <>
          <Callout>
            <b>{t("brokerAccounts.onceTitle")}</b> {t("brokerAccounts.onceWords")}
          </Callout>
          <CodeBlock wrap text={secret} label={t("brokerAccounts.secret")} />
          <CodeBlock wrap text={`accessKey: ${key}\nsecretKey: ${secret}`} label="tools.yml" />
        </>
      )}
      <Outcomes brokers={brokers} />
      <Button onClick={onClose}>{t(secret === null ? "actions.close" : "brokerAccounts.kept")}</Button>
    </Stack>
  )
}

/** Who made a change and who did not; nothing where all did. */
export function Outcomes({ brokers }: { brokers: readonly BrokerOutcome[] }) {
  const { t } = useTranslation()
  if (brokers.every(({ done }) => done)) return null
  return (
    <Callout tone="crit">
      <p>{t("brokerAccounts.partly")}</p>
      <ul>
        {brokers.map(({ broker, done, reason }) => (
          <li key={broker}>{done ? t("partly.did", { broker }) : t("partly.didNot", { broker, reason: reasonIn(t, reason ?? "") })}</li>
        ))}
      </ul>
    </Callout>
  )
}
