import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core"
import { Notifications } from "@mantine/notifications"
import { type QueryClient, QueryClientProvider } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { MOST_TOASTS } from "@/components/toast/show"
import { resolveVariables, theme } from "./theme"

/** Mantine keeps the plain word under this key; public/scheme.js reads it before the first paint. */
const schemes = localStorageColorSchemeManager({ key: "gantry.theme" })

export function Providers({ client, children }: { client: QueryClient; children: ReactNode }) {
  return (
    <QueryClientProvider client={client}>
      <MantineProvider
        theme={theme}
        defaultColorScheme="auto"
        colorSchemeManager={schemes}
        cssVariablesResolver={resolveVariables}
      >
        <Notifications position="bottom-right" limit={MOST_TOASTS} zIndex={400} />
        {children}
      </MantineProvider>
    </QueryClientProvider>
  )
}
