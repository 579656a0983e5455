const SIGN_IN = /^\/login(?:[/?#]|$)/

/** The path to go on to after signing in, for the `next` of the sign-in page; none when it would lead there again. */
export function nextOf(href: string): { next?: string } {
  if (!SIGN_IN.test(href)) return { next: href }
  const before = new URLSearchParams(href.split("?")[1] ?? "").get("next")
  return before === null ? {} : nextOf(before)
}

/** Where signing in leads: only to a path of this console, for an address may not send anybody elsewhere. */
export function targetOf(next: string | undefined): string {
  const isPath = next !== undefined && /^\/(?![/\\])/.test(next)
  return isPath && !SIGN_IN.test(next) ? next : "/"
}
