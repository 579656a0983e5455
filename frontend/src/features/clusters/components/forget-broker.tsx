import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { Ago } from "@/components/values/time"
import { useForgetBroker } from "../api/forget-broker"

interface ForgetBrokerProps {
  cluster: string
  broker: string
  /** The one process that will not return, where the broker name stays; `seen` is when a name server listed it last. */
  process?: { id: number; address: string; seen?: string | null }
}

/** For what is gone for good: a broker with what it held, or one process of its name. It is missed no longer. */
export function ForgetBroker({ cluster, broker, process }: ForgetBrokerProps) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const forget = useForgetBroker(cluster, broker, process?.id)
  const what = process ? "process" : "whole"
  const words = { broker, id: process?.id }
  return (
    <>
      <NeedsRight right="manage">
        <Button size="xs" variant="subtle" onClick={() => setAsking(true)}>
          {t("broker.forget")}
        </Button>
      </NeedsRight>
      <ConfirmDelete
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t(`broker.${what}.title`, words)}
        {...(!process && { name: broker })}
        action={t(`broker.${what}.do`, words)}
        isBusy={forget.isPending}
        remove={() => forget.mutateAsync()}
        done={t(`broker.${what}.done`, words)}
        failed={t(`broker.${what}.failed`, words)}
      >
        {process && (
          <p>
            <span className="mono">{process.address}</span>
            {process.seen && (
              <>
                {" · "}
                {t("broker.process.seen")} <Ago at={process.seen} />
              </>
            )}
          </p>
        )}
        <p>{t(`broker.${what}.words`, words)}</p>
      </ConfirmDelete>
    </>
  )
}
