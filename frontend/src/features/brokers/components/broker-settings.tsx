import { Button, Select, TextInput } from "@mantine/core"
import { IconSearch } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Chip } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import { useUrlState } from "@/hooks/use-url-state"
import type { BrokerSetting } from "@/lib/api-types"
import { useBrokerSettings } from "../api/get-broker-settings"
import classes from "./brokers.module.css"
import { ChangeSetting } from "./change-setting"
import { useMeaning, useValue } from "./setting-words"

interface BrokerSettingsProps {
  cluster: string
  /** The names of the brokers that answer; the first is shown unless the address names another. */
  brokers: string[]
}

/** The settings of one broker, as it reports them, and the way to change one. */
export function BrokerSettings({ cluster, brokers }: BrokerSettingsProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const broker = chosen(brokers, state.broker)
  const settings = useBrokerSettings(cluster, broker)
  return (
      <QueryPanel
        query={settings}
        title={t("brokers.settings")}
        note={t(settings.data?.product === "rocketmq" ? "brokers.noteRocketmq" : "brokers.note")}
        what={t("brokers.failed", { broker })}
        actions={
          brokers.length > 1 && (
            <Select size="xs" aria-label={t("broker.name")} data={brokers} value={broker} onChange={(name) => change({ broker: name ?? undefined, setting: undefined })} />
          )
        }
      >
        {({ settings: all }) => <Listed all={all} />}
      </QueryPanel>
  )
}

/** The drawer of the setting that the address names. */
export function SettingDrawer({ cluster, brokers }: BrokerSettingsProps) {
  const [state, change] = useUrlState()
  const broker = chosen(brokers, state.broker)
  const setting = useBrokerSettings(cluster, broker).data?.settings.find(({ name }) => name === state.setting)
  if (!setting) return null
  return <ChangeSetting key={`${broker} ${setting.name}`} cluster={cluster} broker={broker} setting={setting} onClose={() => change({ setting: undefined })} />
}

const chosen = (brokers: string[], wanted: string | undefined): string => brokers.find((name) => name === wanted) ?? brokers[0] ?? ""

/** Whether the value is not the default, as far as that is known. */
const isOther = ({ value, default: usual }: BrokerSetting) => usual !== null && value !== null && value !== usual

function Listed({ all }: { all: readonly BrokerSetting[] }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const wanted = (state.find ?? "").toLowerCase()
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted))
  const others = found.filter(isOther)
  const editable = found.filter(({ effect }) => effect !== null)
  const shown = state.only === "other" ? others : state.only === "all" ? found : editable
  return (
    <>
      <div className={classes.tools}>
        <TextInput
          size="xs"
          leftSection={<IconSearch size={14} stroke={1.6} />}
          aria-label={t("brokers.find")}
          placeholder={t("brokers.find")}
          value={state.find ?? ""}
          onChange={(event) => change({ find: event.currentTarget.value || undefined })}
        />
        <Chip isOn={state.only === undefined} count={String(editable.length)} onClick={() => change({ only: undefined })}>
          {t("brokers.editable")}
        </Chip>
        <Chip isOn={state.only === "other"} count={String(others.length)} onClick={() => change({ only: "other" })}>
          {t("brokers.others")}
        </Chip>
        <Chip isOn={state.only === "all"} count={String(found.length)} onClick={() => change({ only: "all" })}>
          {t("brokers.all")}
        </Chip>
      </div>
      {shown.length === 0 ? <Empty small title={t("brokers.none")} next={t("brokers.noneNext")} /> : <Rows rows={shown} />}
    </>
  )
}

const column = columnsFor<BrokerSetting>()

function Rows({ rows }: { rows: BrokerSetting[] }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const write = useValue()
  const columns = useMemo(
    () => [
      column("name", t("brokers.name"), { isName: true }, (setting) => <Name setting={setting} />),
      column("value", t("brokers.value"), { isStrong: true }, (setting) => <Value setting={setting} />),
      column("default", t("brokers.default"), { isSecondary: true, minWidth: 620 }, ({ default: usual, unit }) => (usual === null ? <NotApplicable /> : write(usual, unit))),
      column("effect", t("brokers.effect"), { isSecondary: true, minWidth: 760 }, ({ effect, fixed }) =>
        effect ? t(`brokers.effects.${effect}`) : t(`brokers.fixed.${fixed ?? "fixed"}`),
      ),
      column("change", "", { align: "end" }, ({ name, effect }) =>
        effect && (
          <NeedsRight right="admin">
            <Button size="xs" variant="subtle" aria-label={t("brokers.changeNamed", { name })} onClick={() => change({ setting: name })}>
              {t("brokers.change")}
            </Button>
          </NeedsRight>
        ),
      ),
    ],
    [t, change, write],
  )
  return <DataTable natural label={t("brokers.settings")} columns={columns} rows={rows} rowId={({ name }) => name} rowHeight={48} />
}

function Name({ setting: { name } }: { setting: BrokerSetting }) {
  const meaning = useMeaning()(name)
  return (
    <span className={classes.setting} title={meaning}>
      <span className="mono">{name}</span>
      {meaning !== "" && <small>{meaning}</small>}
    </span>
  )
}

function Value({ setting }: { setting: BrokerSetting }) {
  const { t } = useTranslation()
  const write = useValue()
  if (setting.value === null) return <span className="micro">{t("brokers.secret")}</span>
  return (
    <span className={`mono ${classes.value}`} data-other={isOther(setting) || undefined} title={setting.value}>
      {write(setting.value, setting.unit, setting.default !== null)}
    </span>
  )
}
