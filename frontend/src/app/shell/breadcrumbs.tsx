import { IconChevronRight } from "@tabler/icons-react"
import { Link, useLocation } from "@tanstack/react-router"
import { useTranslation } from "react-i18next"
import { pageTitle } from "@/lib/page-title"
import { useStore } from "@/lib/store"
import { navigation } from "./navigation"
import classes from "./shell.module.css"

/** Where one is: the group of the side bar, its entry, and the title of the page below it. */
export function Breadcrumbs() {
  const { t } = useTranslation()
  const { pathname } = useLocation()
  const title = useStore(pageTitle)
  const group = navigation.find(({ entries }) => entries.some(({ to }) => isUnder(pathname, to)))
  const entry = group?.entries.find(({ to }) => isUnder(pathname, to))
  if (!group || !entry) return <div className={classes.crumbs} />
  const isLeaf = pathname === entry.to
  return (
    <nav className={classes.crumbs} aria-label={t("nav.path")}>
      <span>{t(`nav.sections.${group.id}`)}</span>
      <IconChevronRight size={14} stroke={1.6} aria-hidden />
      {isLeaf ? (
        <span aria-current="page" data-phone>
          {t(`nav.${entry.id}`)}
        </span>
      ) : (
        <>
          <Link to={entry.to} data-phone>
            {t(`nav.${entry.id}`)}
          </Link>
          <IconChevronRight size={14} stroke={1.6} aria-hidden />
          <span aria-current="page">{title}</span>
        </>
      )}
    </nav>
  )
}

const isUnder = (pathname: string, to: string) => (to === "/" ? pathname === "/" : pathname === to || pathname.startsWith(`${to}/`))
