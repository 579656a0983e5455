import { ActionIcon, Button, Group, Select, Stack, TextInput } from "@mantine/core"
import { IconPlus, IconX } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { Field } from "@/components/forms/field"
import { type AccessRight, fieldOf, type NamedRight, namesTwice, RIGHTS } from "../draft"

interface NamedRightsProps {
  kind: "topic" | "group"
  rights: NamedRight[]
  isLocked: boolean
  /** What the API said of a name, by the name of its field. */
  refused: Readonly<Record<string, string>>
  onChange: (rights: NamedRight[]) => void
}

/** The rights of an account by name, a row each. */
export function NamedRights({ kind, rights, isLocked, refused, onChange }: NamedRightsProps) {
  const { t } = useTranslation()
  const twice = namesTwice(rights)
  const [added, setAdded] = useState<number>()
  const add = () => {
    const id = Math.max(-1, ...rights.map((each) => each.id)) + 1
    setAdded(id)
    onChange([...rights, { id, name: "", right: kind === "topic" ? "PUB|SUB" : "SUB" }])
  }
  // What has no name yet is told by its place.
  const named = (name: string, index: number) => name.trim() || t("brokerAccounts.unnamed", { what: t(`brokerAccounts.nameOf.${kind}`), n: index + 1 })
  const set = (id: number, change: Partial<NamedRight>) => onChange(rights.map((each) => (each.id === id ? { ...each, ...change } : each)))
  return (
    <Field label={t(`brokerAccounts.of.${kind}`)} description={t(`brokerAccounts.ofWords.${kind}`)} error={twice.length > 0 ? t("brokerAccounts.twice", { names: twice.join(t("list.comma")) }) : null}>
      <Stack gap={6} mt={4} align="flex-start">
        {rights.map(({ id, name, right }, index) => (
          <Group key={id} gap={6} wrap="nowrap" align="flex-start" w="100%">
            <TextInput flex={1} aria-label={t(`brokerAccounts.nameOf.${kind}`)} autoFocus={id === added} value={name} error={refused[fieldOf(kind, name)]} disabled={isLocked} onChange={(event) => set(id, { name: event.currentTarget.value })} />
            <RightSelect label={t("brokerAccounts.rightOf", { name: named(name, index) })} value={right} isLocked={isLocked} onChange={(next) => set(id, { right: next })} />
            <ActionIcon variant="subtle" disabled={isLocked} aria-label={t("brokerAccounts.removeRight", { name: named(name, index) })} onClick={() => onChange(rights.filter((each) => each.id !== id))}>
              <IconX size={15} stroke={1.6} />
            </ActionIcon>
          </Group>
        ))}
        <Button size="xs" variant="subtle" disabled={isLocked} leftSection={<IconPlus size={14} stroke={1.8} />} onClick={add}>
          {t(`brokerAccounts.add.${kind}`)}
        </Button>
      </Stack>
    </Field>
  )
}

interface RightSelectProps {
  label: string
  value: AccessRight
  isLocked?: boolean
  onChange: (right: AccessRight) => void
}

/** A right, by the words of RocketMQ. */
export function RightSelect({ label, value, isLocked = false, onChange }: RightSelectProps) {
  return <Select w={112} aria-label={label} allowDeselect={false} disabled={isLocked} data={[...RIGHTS]} value={value} onChange={(next) => onChange(RIGHTS.find((right) => right === next) ?? value)} />
}
