import { useRouter, useSearch } from "@tanstack/react-router"
import { targetOf } from "@/app/sign-in"
import { env } from "@/config/env"
import { LoginPage } from "@/features/auth/components/login-page"

export function LoginRoute() {
  const router = useRouter()
  const { next } = useSearch({ strict: false })
  return <LoginPage onDone={() => router.history.push(env.base + targetOf(next))} />
}
