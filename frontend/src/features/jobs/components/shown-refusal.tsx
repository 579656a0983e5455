import { type ReactNode, useMemo } from "react"
import { type Refusal, RefusalsContext } from "@/components/wizard/refusals"

interface ShownRefusalProps {
  request: object
  refusal: Refusal
  children: ReactNode
}

/** The fields of a job outside its wizard, with what was refused of them. */
export function ShownRefusal({ request, refusal, children }: ShownRefusalProps) {
  const value = useMemo(() => ({ request, refusals: [refusal], note: () => undefined, stepOf: () => undefined }), [request, refusal])
  return <RefusalsContext value={value}>{children}</RefusalsContext>
}
