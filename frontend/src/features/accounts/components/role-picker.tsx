import { MultiSelect } from "@mantine/core"
import { useTranslation } from "react-i18next"
import { nameOfRole } from "@/components/values/roles"
import { useMay } from "@/hooks/use-rights"
import type { User } from "@/lib/api-types"
import { useRoles } from "../api/get-roles"
import { ROLES, rolesOf } from "../roles"

type Roles = Pick<User, "role" | "own_roles">

interface RolePickerProps {
  value: Roles
  onChange: (roles: Roles) => void
  disabled?: boolean
  /** In a table: small, and named without a label of its own. */
  isCompact?: boolean
}

/** Roles of a user: at most one that is built in, and any of one's own. */
export function RolePicker({ value, onChange, disabled = false, isCompact = false }: RolePickerProps) {
  const { t } = useTranslation()
  const own = useRoles(useMay("admin")).data?.items.flatMap(({ name, built_in }) => (built_in ? [] : [name])) ?? value.own_roles
  const looks = isCompact ? { size: "xs", w: { base: 140, xs: 220 }, "aria-label": t("access.role") } : { label: t("access.role") }
  return (
    <MultiSelect
      {...looks}
      data={[...ROLES.map((name) => ({ value: name, label: nameOfRole(t, name) })), ...own]}
      value={[...(value.role ? [value.role] : []), ...value.own_roles]}
      disabled={disabled}
      onChange={(names) => onChange(rolesOf(names))}
    />
  )
}
