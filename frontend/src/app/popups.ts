import i18next from "i18next"

/** Where menus, tooltips, dialogs and toasts are drawn: a landmark of its own, which is there only while it holds something. */
export const popups = document.createElement("div")
popups.id = "popups"
popups.setAttribute("role", "region")
document.body.append(popups)

i18next.on("languageChanged", () => popups.setAttribute("aria-label", i18next.t("popups")))
