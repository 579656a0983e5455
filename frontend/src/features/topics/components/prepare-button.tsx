import { Button } from "@mantine/core"
import { IconArrowsSplit2 } from "@tabler/icons-react"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { toastFailed, toastUnknown } from "@/components/toast/toast"
import { asProblem } from "@/lib/problem"
import { usePrepare } from "../api/prepare"
import { isUnsure } from "../use-sending"

interface PrepareButtonProps {
  cluster: string
  topic: string
  message: string | undefined
  isReady: boolean
}

/** Prepares the message as a transaction, and leads to where it is committed or rolled back. */
export function PrepareButton({ cluster, topic, message, isReady }: PrepareButtonProps) {
  const { t } = useTranslation()
  const prepare = usePrepare(cluster, topic)
  const submit = (text: string) =>
    prepare.mutate(text, {
      onError: (error) => {
        if (isUnsure(asProblem(error))) toastUnknown(t("produce.prepareUnknown"), t("produce.prepareUnknownNext"))
        else toastFailed(t("produce.notPrepared"), error)
      },
    })
  return (
    <>
      <NeedsRight right="produce">
        <Button size="md" leftSection={<IconArrowsSplit2 size={15} stroke={1.6} />} disabled={!isReady || message === undefined} loading={prepare.isPending} onClick={() => message !== undefined && submit(message)}>
          {t("produce.prepare")}
        </Button>
      </NeedsRight>
      {prepare.data && (
        <span role="status">
          {t("produce.prepared", { group: prepare.data.group })}{" "}
          <Link to="/transactions" search={{ open: prepare.data.transaction_id }}>
            {t("produce.decide")}
          </Link>
        </span>
      )}
    </>
  )
}
