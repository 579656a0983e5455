import { useMutation } from "@tanstack/react-query"
import { api } from "@/lib/api-client"
import type { Call } from "../request"

export interface Answer {
  status: number
  took_ms: number
  headers: [name: string, value: string][]
  text: string
}

/** Makes a call as it was written; a refusal is an answer too. Only a gateway that does not answer is an error. */
export const useSendCall = () => useMutation({ mutationFn: sendCall })

async function sendCall({ method, path, headers, body }: Call): Promise<Answer> {
  const begun = performance.now()
  const response = await api.raw(method, path, { headers, ...(body !== null && { body }) })
  const text = await response.text()
  return { status: response.status, took_ms: performance.now() - begun, headers: [...response.headers], text }
}
