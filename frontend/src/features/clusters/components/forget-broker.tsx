import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDelete } from "@/components/forms/confirm-delete"
import { NeedsRight } from "@/components/forms/lock"
import { useForgetBroker } from "../api/forget-broker"

/** For a broker that is gone for good: it is no longer missed, and what it held is gone with it. */
export function ForgetBroker({ cluster, broker }: { cluster: string; broker: string }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const forget = useForgetBroker(cluster, broker)
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
        title={t("broker.forgetTitle", { broker })}
        name={broker}
        action={t("broker.forgetNamed", { broker })}
        isBusy={forget.isPending}
        remove={() => forget.mutateAsync()}
        done={t("broker.forgotten", { broker })}
        failed={t("broker.notForgotten", { broker })}
      >
        <p>{t("broker.forgetWords")}</p>
      </ConfirmDelete>
    </>
  )
}
