import { useRouter, useSearch } from "@tanstack/react-router"
import { LoginPage } from "@/features/auth/components/login-page"

export function LoginRoute() {
  const router = useRouter()
  const { next } = useSearch({ strict: false })
  // Only a path of this console: an address may not send anybody elsewhere.
  const target = next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/login") ? next : "/"
  return <LoginPage onDone={() => router.history.push(target)} />
}
