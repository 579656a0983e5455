import { Button, SegmentedControl, Stack } from "@mantine/core"
import { IconDownload } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { CurlButton } from "@/components/code/curl-button"
import { Field } from "@/components/forms/field"
import { Panel } from "@/components/layout/panel"
import { Failed } from "@/components/states/failed"
import { paths } from "@/config/paths"
import type { Definitions } from "@/lib/api-types"
import { saveFile } from "@/lib/save-file"
import { useReadDefinitions } from "../api/get-definitions"
import { Remarks } from "./remarks"

/** Saves the definitions as a file, and says beside it what the file does not have. */
export function ExportPanel({ cluster }: { cluster: string }) {
  const { t } = useTranslation()
  const [scope, setScope] = useState<"all" | "one">("all")
  const read = useReadDefinitions()
  const asked = scope === "one" ? cluster : undefined
  return (
    <Panel title={t("definitions.export")} note={t("definitions.exportNote")} actions={<CurlButton request={{ path: paths.definitions, query: { cluster: asked } }} />}>
      <Stack gap={14} p={14} align="flex-start">
        <Field label={t("definitions.scope")}>
          <SegmentedControl
            value={scope}
            onChange={(next) => setScope(next as "all" | "one")}
            data={[
              { value: "all", label: t("definitions.everyCluster") },
              { value: "one", label: t("definitions.thisCluster", { cluster }) },
            ]}
          />
        </Field>
        <Button leftSection={<IconDownload size={15} stroke={1.6} />} loading={read.isPending} onClick={() => read.mutate(asked, { onSuccess: save })}>
          {t("definitions.save")}
        </Button>
        {read.error && <Failed what={t("definitions.notSaved")} error={read.error} />}
        {read.data && <Saved file={read.data} />}
      </Stack>
    </Panel>
  )
}

function Saved({ file }: { file: Definitions }) {
  const { t } = useTranslation()
  const sum = (section: "topics" | "groups") => file.clusters.reduce((all, each) => all + (each[section]?.length ?? 0), 0)
  const counts = { topics: sum("topics"), groups: sum("groups"), roles: file.roles?.length ?? 0, schedules: file.schedules?.length ?? 0, alert_rules: file.alert_rules?.length ?? 0 }
  return (
    <div role="status">
      <p>{t("definitions.saved", counts)}</p>
      <Remarks remarks={file.remarks} />
    </div>
  )
}

/** A name that sorts by time. */
function save(file: Definitions) {
  const name = `gantry-definitions-${file.exported_at.slice(0, 19).replaceAll(":", "")}.json`
  saveFile(name, "application/json", `${JSON.stringify(file, null, 2)}\n`)
}
