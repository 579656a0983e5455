import { Button, Select, TextInput, Tooltip } from "@mantine/core"
import { IconArrowsDiff, IconSearch } from "@tabler/icons-react"
import { useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Badge, Chip } from "@/components/badges/badge"
import { columnsFor } from "@/components/data-table/columns"
import { DataTable } from "@/components/data-table/data-table"
import { NeedsRight } from "@/components/forms/lock"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { NotApplicable } from "@/components/values/num"
import { useUrlState } from "@/hooks/use-url-state"
import type { BrokerSetting } from "@/lib/api-types"
import { useBrokerSettings, useSettingsOfReplicas } from "../api/get-broker-settings"
import { type BrokerProcess, chosenProcess, differences } from "../broker-process"
import classes from "./brokers.module.css"
import { ChangeSetting } from "./change-setting"
import { useMeaning, useValue } from "./setting-words"

interface BrokerSettingsProps {
  cluster: string
  /** The processes that answer; the first is shown unless the address names another. */
  brokers: BrokerProcess[]
}

/** The settings of one replica of a broker, as it reports them, and the way to change one. */
export function BrokerSettings({ cluster, brokers }: BrokerSettingsProps) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const { name: broker, id } = chosenProcess(brokers, state.broker, state.replica)
  const names = [...new Set(brokers.map(({ name }) => name))]
  const ids = brokers.filter(({ name }) => name === broker).map((each) => each.id)
  const settings = useBrokerSettings(cluster, broker, id)
  const all = useSettingsOfReplicas(cluster, broker, ids)
  return (
      <QueryPanel
        query={settings}
        title={t("brokers.settings")}
        note={t(settings.data?.product === "rocketmq" ? "brokers.noteRocketmq" : "brokers.note")}
        what={t("brokers.failed", { broker })}
        actions={
          <>
            {names.length > 1 && (
              <Select size="xs" aria-label={t("broker.name")} data={names} value={broker} onChange={(name) => change({ broker: name ?? undefined, replica: undefined, setting: undefined })} />
            )}
            {ids.length > 1 && (
              <Select
                size="xs"
                aria-label={t("brokers.replica")}
                data={ids.map((each) => ({ value: String(each), label: each === 0 ? t("brokers.master") : t("brokers.replicaOf", { id: each }) }))}
                value={String(id)}
                onChange={(wanted) => change({ replica: wanted ?? undefined, setting: undefined })}
              />
            )}
          </>
        }
      >
        {(own) => <Listed all={own.settings} other={differences(own, all)} />}
      </QueryPanel>
  )
}

/** The drawer of the setting that the address names. */
export function SettingDrawer({ cluster, brokers }: BrokerSettingsProps) {
  const [state, change] = useUrlState()
  const { name: broker, id } = chosenProcess(brokers, state.broker, state.replica)
  const setting = useBrokerSettings(cluster, broker, id).data?.settings.find(({ name }) => name === state.setting)
  if (!setting) return null
  return <ChangeSetting key={`${broker} ${id} ${setting.name}`} cluster={cluster} broker={broker} replica={id} setting={setting} onClose={() => change({ setting: undefined })} />
}

/** By setting: what the other replicas of the name have. */
type Other = ReturnType<typeof differences>

/** Whether the value is not the default, as far as that is known. */
const isOther = ({ value, default: usual }: BrokerSetting) => usual !== null && value !== null && value !== usual

function Listed({ all, other }: { all: readonly BrokerSetting[]; other: Other }) {
  const { t } = useTranslation()
  const [state, change] = useUrlState()
  const wanted = (state.find ?? "").toLowerCase()
  const found = all.filter(({ name }) => name.toLowerCase().includes(wanted))
  const others = found.filter(isOther)
  const editable = found.filter(({ effect }) => effect !== null)
  const differing = found.filter(({ name }) => other.has(name))
  const shown = state.only === "differing" ? differing : state.only === "other" ? others : state.only === "all" ? found : editable
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
        {other.size > 0 && (
          <Chip isOn={state.only === "differing"} count={String(differing.length)} onClick={() => change({ only: "differing" })}>
            {t("brokers.differing")}
          </Chip>
        )}
        <Chip isOn={state.only === "all"} count={String(found.length)} onClick={() => change({ only: "all" })}>
          {t("brokers.all")}
        </Chip>
      </div>
      {shown.length === 0 ? <Empty small title={t("brokers.none")} next={t("brokers.noneNext")} /> : <Rows rows={shown} other={other} />}
    </>
  )
}

const column = columnsFor<BrokerSetting>()

function Rows({ rows, other }: { rows: BrokerSetting[]; other: Other }) {
  const { t } = useTranslation()
  const [, change] = useUrlState()
  const write = useValue()
  const columns = useMemo(
    () => [
      column("name", t("brokers.name"), { isName: true }, (setting) => <Name setting={setting} />),
      column("value", t("brokers.value"), { isStrong: true }, (setting) => (
        <>
          <Value setting={setting} /> <Differs setting={setting} from={other.get(setting.name)} />
        </>
      )),
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
    [t, change, write, other],
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

/** Marks a setting that other replicas of the name have otherwise. */
function Differs({ setting: { unit }, from }: { setting: BrokerSetting; from: [id: number, value: string][] | undefined }) {
  const { t } = useTranslation()
  const write = useValue()
  if (!from) return null
  const words = from.map(([id, value]) => t(id === 0 ? "brokers.masterHas" : "brokers.replicaHas", { id, value: write(value, unit) })).join(t("list.semicolon"))
  return (
    <Tooltip label={words}>
      <span tabIndex={0} aria-label={words}>
        <Badge tone="warn" icon={IconArrowsDiff}>
          {t("brokers.differs")}
        </Badge>
      </span>
    </Tooltip>
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
