import { Anchor } from "@mantine/core"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Page } from "@/components/layout/page"
import { Panel } from "@/components/layout/panel"
import { QueryBody } from "@/components/states/query-panel"
import { paths } from "@/config/paths"
import { useUrlState } from "@/hooks/use-url-state"
import { useApiDocument } from "../api/document"
import { type ApiDocument, operationsOf } from "../document"
import classes from "./api-reference.module.css"
import { OperationList } from "./operation-list"
import { OperationView } from "./operation-view"
import { TryIt } from "./try-it"

/** The HTTP API: every operation, its fields, and a way to call it as the one who is signed in. */
export function ApiPage() {
  const { t } = useTranslation()
  const document = useApiDocument()
  return (
    <Page
      title={t("apiReference.title")}
      actions={
        <>
          <Anchor href={paths.openapi} target="_blank" fz={12.5}>
            {t("apiReference.document")}
          </Anchor>
          <Anchor href={paths.apiDocs} target="_blank" fz={12.5}>
            {t("apiReference.plain")}
          </Anchor>
        </>
      }
    >
      <QueryBody query={document} what={t("apiReference.notRead")}>
        {(found) => <Operations document={found} />}
      </QueryBody>
    </Page>
  )
}

function Operations({ document }: { document: ApiDocument }) {
  const { t } = useTranslation()
  const [{ operation: wanted }] = useUrlState()
  const operations = useMemo(() => operationsOf(document), [document])
  const operation = operations.find(({ id }) => id === wanted)
  return (
    <div className={classes.columns} data-open={operation !== undefined || undefined}>
      <OperationList operations={operations} chosen={operation?.id} />
      {operation && (
        <div className={classes.operation} key={operation.id}>
          <OperationView operation={operation} document={document} />
          <TryIt operation={operation} />
        </div>
      )}
      {!operation && (
        <Panel title={t("apiReference.begin")}>
          <p className={classes.begin}>{t("apiReference.beginWords")}</p>
        </Panel>
      )}
    </div>
  )
}
