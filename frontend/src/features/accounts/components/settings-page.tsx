import { SegmentedControl, Select, Stack, useMantineColorScheme } from "@mantine/core"
import { type ReactNode, useMemo } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { Columns, Page } from "@/components/layout/page"
import { Definitions, Panel } from "@/components/layout/panel"
import { currentTab, TabBar } from "@/components/layout/tab-bar"
import { useChooseLanguage } from "@/components/toast/use-choose-language"
import { namesOfRoles } from "@/components/values/roles"
import { env } from "@/config/env"
import { useLanguage, useZone } from "@/hooks/use-format"
import { useMe } from "@/hooks/use-rights"
import { useUrlState } from "@/hooks/use-url-state"
import { languages } from "@/lib/i18n"
import { densityPreference, type Density, type Language, zonePreference } from "@/lib/preferences"
import { useStore } from "@/lib/store"
import { browserZone } from "@/lib/time"
import { ChangePassword } from "./change-password"

/** What belongs to the one who is signed in; and, as a panel of another feature, the definitions of everything. */
export function SettingsPage({ definitions }: { definitions?: ReactNode }) {
  const { t } = useTranslation()
  const [state] = useUrlState()
  const tabs = [{ id: "personal", label: t("definitions.personal") }, { id: "definitions", label: t("definitions.title") }]
  const tab = currentTab(tabs, state.tab)
  return (
    <Page title={t("nav.settings")} facts={t("settings.facts")}>
      <TabBar tabs={tabs} />
      {tab === "personal" ? <Columns main={<Looks />} side={<Profile />} sideWidth={420} /> : definitions}
    </Page>
  )
}

function Looks() {
  const { t } = useTranslation()
  const language = useLanguage()
  const choose = useChooseLanguage()
  const density = useStore(densityPreference)
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Panel title={t("settings.looks")} note={t("settings.looksNote")}>
      <Stack gap={16} p={14}>
        <Field label={t("language.label")}>
          <SegmentedControl
            value={language}
            onChange={(next) => choose(next as Language)}
            data={(Object.keys(languages) as Language[]).map((value) => ({ value, label: languages[value] }))}
          />
        </Field>
        <Field label={t("settings.theme")}>
          <SegmentedControl
            value={colorScheme}
            onChange={(next) => setColorScheme(next as "light" | "dark" | "auto")}
            data={(["light", "dark", "auto"] as const).map((value) => ({ value, label: t(`theme.${value}`) }))}
          />
        </Field>
        <Field label={t("settings.density")}>
          <SegmentedControl
            value={density}
            onChange={(next) => densityPreference.set(next as Density)}
            data={(["comfortable", "standard", "compact"] as const).map((value) => ({ value, label: t(`density.${value}`) }))}
          />
        </Field>
        <ZoneField />
      </Stack>
    </Panel>
  )
}

function ZoneField() {
  const { t } = useTranslation()
  const zone = useZone()
  const [, change] = useUrlState()
  const zones = useMemo(
    () => [
      { value: "browser", label: t("zone.browser", { zone: browserZone() }) },
      { value: "UTC", label: "UTC" },
      ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC").map((name) => ({ value: name, label: name })),
    ],
    [t],
  )
  return (
    <Select
      searchable
      label={t("zone.label")}
      data={zones}
      value={zone}
      limit={80}
      onChange={(next) => {
        if (!next) return
        zonePreference.set(next)
        change({ zone: next === "browser" ? undefined : next })
      }}
      maw={320}
    />
  )
}

function Profile() {
  const { t } = useTranslation()
  const me = useMe()
  if (!me) return null
  return (
    <>
      <Panel title={t("settings.profile")}>
        <Definitions
          items={[
            [t("access.user"), me.username],
            [t("access.role"), namesOfRoles(t, me).join(t("list.comma"))],
            [t("settings.rights"), me.rights.map((right) => t(`rights.${right}`)).join(t("list.comma"))],
            ["Gantry", env.version],
          ]}
        />
      </Panel>
      <ChangePassword />
    </>
  )
}
