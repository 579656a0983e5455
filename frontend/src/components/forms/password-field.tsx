import { PasswordInput, type PasswordInputProps } from "@mantine/core"
import { useTranslation } from "react-i18next"

/** A password, with the button that shows it named in the language of the reader. */
export function PasswordField(props: PasswordInputProps) {
  const { t } = useTranslation()
  return <PasswordInput {...props} visibilityToggleButtonProps={{ "aria-label": t("forms.showPassword") }} />
}
