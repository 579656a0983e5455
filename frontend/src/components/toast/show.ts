import { type NotificationData, notifications, notificationsStore } from "@mantine/notifications"
import i18next from "i18next"

/** How many stand at once; more would cover the page. */
export const MOST_TOASTS = 3

/** Shows a message at once: where there is no room the oldest gives way, for one that waits unseen may never be read. */
export function showToast(message: NotificationData): void {
  if (message.id) notifications.hide(message.id)
  const { notifications: shown, queue } = notificationsStore.getState()
  const known = [...shown, ...queue]
  // What closes by itself has been read; what asks for an answer stays longest.
  const leaving = [...known].sort((one, other) => Number(one.autoClose === false) - Number(other.autoClose === false))
  for (const { id } of leaving.slice(0, Math.max(0, known.length + 1 - MOST_TOASTS))) if (id) notifications.hide(id)
  notifications.show({ ...message, closeButtonProps: { "aria-label": i18next.t("actions.close") } })
}

let sender: object | null = null
const failures = new WeakMap<object, string[]>()

/** A form is sent: what failed when it was sent before is settled now, one way or the other. */
export function formSent(form: object): void {
  for (const id of failures.get(form) ?? []) notifications.hide(id)
  failures.delete(form)
  sender = form
}

/** Remembers the message of a failure for the form that was sent last. */
export function failedWhileSending(id: string): void {
  if (sender) failures.set(sender, [...(failures.get(sender) ?? []), id])
}
