import { Button } from "@mantine/core"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { ConfirmDanger } from "@/components/forms/confirm-danger"
import { NeedsRight } from "@/components/forms/lock"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { useForgetBroker } from "../api/forget-broker"

/** For a broker that is gone for good: it is no longer missed, and what it held is gone with it. */
export function ForgetBroker({ cluster, broker }: { cluster: string; broker: string }) {
  const { t } = useTranslation()
  const [isAsking, setAsking] = useState(false)
  const forget = useForgetBroker(cluster, broker)
  const confirm = () =>
    forget.mutate(undefined, {
      onSuccess: () => toastDone(t("broker.forgotten", { broker })),
      onError: (error) => toastFailed(t("broker.notForgotten", { broker }), error),
      onSettled: () => setAsking(false),
    })
  return (
    <>
      <NeedsRight right="manage">
        <Button size="xs" variant="subtle" onClick={() => setAsking(true)}>
          {t("broker.forget")}
        </Button>
      </NeedsRight>
      <ConfirmDanger
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t("broker.forgetTitle", { broker })}
        name={broker}
        action={t("broker.forgetNamed", { broker })}
        isBusy={forget.isPending}
        onConfirm={confirm}
      >
        <p>{t("broker.forgetWords")}</p>
      </ConfirmDanger>
    </>
  )
}
