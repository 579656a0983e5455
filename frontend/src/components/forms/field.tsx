import { Input } from "@mantine/core"
import type { ReactNode } from "react"

interface FieldProps {
  label: string
  description?: string
  error?: string | null | undefined
  children: ReactNode
}

/** A label over a control that has none of its own. */
export const Field = ({ label, description, error, children }: FieldProps) => (
  <Input.Wrapper label={label} description={description} error={error}>
    <div>{children}</div>
  </Input.Wrapper>
)
