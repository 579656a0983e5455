import "@fontsource-variable/ibm-plex-sans/index.css"
import "@fontsource/ibm-plex-mono/latin-400.css"
import "@fontsource/ibm-plex-mono/latin-500.css"
import "@mantine/core/styles.layer.css"
import "@mantine/notifications/styles.layer.css"
import "uplot/dist/uPlot.min.css"
import "@/styles/tokens.css"
import "@/styles/base.css"
import "@/styles/first-paint.css"
import "@/styles/mantine.css"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { App } from "@/app/app"
import { buildRouter } from "@/app/router"
import { allWords, startTranslations } from "@/lib/i18n"
import { createQueryClient } from "@/lib/query"

await startTranslations()
const cache = createQueryClient()
const router = buildRouter(cache)
const root = document.getElementById("root")
if (root)
  createRoot(root).render(
    <StrictMode>
      <App cache={cache} router={router} />
    </StrictMode>,
  )
// A page that needs them asks for them again, and tells when they cannot be had.
allWords().catch(() => undefined)
