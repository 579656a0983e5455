import { ActionIcon, Tooltip } from "@mantine/core"
import { IconChevronDown, IconChevronUp, IconX } from "@tabler/icons-react"
import { type ReactNode, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { useKeys } from "@/hooks/use-keys"
import classes from "./drawer.module.css"

interface DockedPageProps {
  drawer: ReactNode
  children: ReactNode
}

/** A page that narrows beside a drawer instead of going under it. */
export function DockedPage({ drawer, children }: DockedPageProps) {
  return (
    <div className={classes.host}>
      <div className={classes.main}>{children}</div>
      {drawer}
    </div>
  )
}

interface DockedDrawerProps {
  label: string
  position?: string | undefined
  onPrevious?: (() => void) | undefined
  onNext?: (() => void) | undefined
  onClose: () => void
  actions?: ReactNode
  children: ReactNode
}

/** From under the top bar to the bottom edge; Esc closes it, the arrows walk through the rows. */
export function DockedDrawer({ label, position, onPrevious, onNext, onClose, actions, children }: DockedDrawerProps) {
  const { t } = useTranslation()
  useFocusBack()
  useKeys({
    Escape: onClose,
    ArrowUp: () => onPrevious?.(),
    ArrowDown: () => onNext?.(),
  })
  return (
    <aside className={classes.drawer} aria-label={label} data-docked>
      <div className={classes.bar}>
        <div className={classes.step}>
          {position && <span className="micro">{position}</span>}
          {(onPrevious ?? onNext) && (
            <>
              <Step label={t("drawer.previous")} icon={IconChevronUp} onClick={onPrevious} />
              <Step label={t("drawer.next")} icon={IconChevronDown} onClick={onNext} />
            </>
          )}
        </div>
        <div className={classes.actions}>{actions}</div>
        <Tooltip label={t("actions.close")}>
          <ActionIcon aria-label={t("actions.close")} onClick={onClose}>
            <IconX size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={classes.body}>{children}</div>
    </aside>
  )
}

/** What was focused before goes on when this closes, unless the focus went elsewhere meanwhile. */
function useFocusBack() {
  const [before] = useState(() => document.activeElement)
  useEffect(
    () => () => {
      if (document.activeElement === document.body && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true })
    },
    [before],
  )
}

interface StepProps {
  label: string
  icon: typeof IconX
  onClick?: (() => void) | undefined
}

function Step({ label, icon: StepIcon, onClick }: StepProps) {
  return (
    <ActionIcon aria-label={label} disabled={!onClick} onClick={onClick}>
      <StepIcon size={17} stroke={1.6} />
    </ActionIcon>
  )
}
