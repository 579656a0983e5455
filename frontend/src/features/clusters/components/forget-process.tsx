import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { Ago } from "@/components/values/time"
import { useForgetBroker } from "../api/forget-broker"

interface ForgetProcessProps {
  cluster: string
  broker: string
  /** Which of the name is gone, and where it was; `seen` is when a name server listed it last, where that is known. */
  process: { id: number; address: string; seen?: string | null }
}

/** For one process of a broker name that will not return: it is missed no longer. Its broker name stays. */
export function ForgetProcess({ cluster, broker, process: { id, address, seen } }: ForgetProcessProps) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const forget = useForgetBroker(cluster, broker, id)
  const words = { broker, id }
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
        title={t("broker.process.title", words)}
        action={t("broker.process.do", words)}
        isBusy={forget.isPending}
        remove={() => forget.mutateAsync()}
        done={t("broker.process.done", words)}
        failed={t("broker.process.failed", words)}
      >
        <p>
          <span className="mono">{address}</span>
          {seen && (
            <>
              {" · "}
              {t("broker.process.seen")} <Ago at={seen} />
            </>
          )}
        </p>
        <p>{t("broker.process.words", words)}</p>
      </ConfirmDelete>
    </>
  )
}
