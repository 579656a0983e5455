import { Button } from "@mantine/core"
import { Link } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { Page } from "@/components/layout/page"
import { Empty } from "@/components/states/empty"

export function NotFound() {
  const { t } = useTranslation()
  return (
    <Page title={t("notFound.title")}>
      <Empty
        title={t("notFound.next")}
        actions={<Button renderRoot={(props: object) => <Link to="/" {...props} />}>{t("notFound.home")}</Button>}
      />
    </Page>
  )
}
