import type { QueryClient } from "@tanstack/react-query"
import { RouterProvider } from "@tanstack/react-router"
import { Providers } from "./providers"
import type { buildRouter } from "./router"

interface AppProps {
  cache: QueryClient
  router: ReturnType<typeof buildRouter>
}

export function App({ cache, router }: AppProps) {
  return (
    <Providers client={cache}>
      <RouterProvider router={router} />
    </Providers>
  )
}
