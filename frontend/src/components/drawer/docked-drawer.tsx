import { ActionIcon, Tooltip } from "@mantine/core"
import { IconChevronDown, IconChevronUp, IconX } from "@tabler/icons-react"
import { type ReactNode, useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { isTyping, useKeys } from "@/hooks/use-keys"
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
  /** While true neither the cross nor Esc closes it. */
  isLocked?: boolean
  actions?: ReactNode
  children: ReactNode
}

/** From under the top bar to the bottom edge; Esc closes it, the arrows walk through the rows. */
export function DockedDrawer({ label, position, onPrevious, onNext, onClose, isLocked = false, actions, children }: DockedDrawerProps) {
  const { t } = useTranslation()
  const ref = useFocusInside()
  useKeys({
    Escape: () => isLocked || onClose(),
    ArrowUp: () => onPrevious?.(),
    ArrowDown: () => onNext?.(),
  })
  return (
    <aside ref={ref} className={classes.drawer} aria-label={label} tabIndex={-1} data-docked>
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
          <ActionIcon aria-label={t("actions.close")} disabled={isLocked} onClick={onClose}>
            <IconX size={17} stroke={1.6} />
          </ActionIcon>
        </Tooltip>
      </div>
      <div className={classes.body}>{children}</div>
    </aside>
  )
}

/** The focus goes inside, unless a field has it; when this closes it goes back to where it was, or to the page. */
function useFocusInside() {
  const ref = useRef<HTMLElement>(null)
  const [before] = useState(() => document.activeElement)
  useEffect(() => {
    const focused = document.activeElement
    if (!ref.current?.contains(focused) && !isTyping(focused)) ref.current?.focus({ preventScroll: true })
    return () => {
      if (document.activeElement !== document.body) return
      const back = before?.isConnected && before !== document.body ? before : document.getElementById("content")
      if (back instanceof HTMLElement) back.focus({ preventScroll: true })
    }
  }, [before])
  return ref
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
