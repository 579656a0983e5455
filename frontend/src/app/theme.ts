import {
  createTheme,
  type CSSVariablesResolver,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  type VariantColorsResolver,
} from "@mantine/core"
import { popups } from "./popups"

const petrol: MantineColorsTuple = [
  "#e1eff5", "#c5deea", "#9cc6d8", "#62c2e4", "#3a9fc4", "#1477a0", "#0b6285", "#0b6285", "#09526f", "#074057",
]

/** Mantine writes colours inline, so the tokens must enter here; plain CSS would lose. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const known = defaultVariantColorsResolver(input)
  if (input.variant === "filled")
    return {
      ...known,
      background: "var(--accent-fill)",
      hover: "var(--accent-fill-hover)",
      color: "var(--on-accent)",
      border: "1px solid transparent",
    }
  if (input.variant === "default")
    return {
      ...known,
      background: "var(--panel)",
      hover: "var(--hover)",
      color: "var(--ink)",
      border: "1px solid var(--line-2)",
    }
  if (input.variant === "subtle")
    return { ...known, background: "transparent", hover: "var(--hover)", color: "var(--ink-2)", border: "0" }
  return known
}

export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: variablesOfScheme,
  dark: variablesOfScheme,
})

const variablesOfScheme = {
  "--mantine-color-body": "var(--ground)",
  "--mantine-color-text": "var(--ink)",
  "--mantine-color-default-border": "var(--line-2)",
  "--mantine-color-default-hover": "var(--hover)",
  "--mantine-color-dimmed": "var(--ink-3)",
  "--mantine-color-error": "var(--crit)",
  "--mantine-color-anchor": "var(--accent)",
  "--mantine-color-placeholder": "var(--ink-3)",
}

const heights: Record<string, string> = { xs: "26px", sm: "30px", md: "34px", lg: "38px" }
const heightOf = (size: unknown) => heights[typeof size === "string" ? size : "sm"] ?? "30px"

export const theme = createTheme({
  fontFamily: "var(--font-sans)",
  fontFamilyMonospace: "var(--font-mono)",
  primaryColor: "petrol",
  colors: { petrol },
  defaultRadius: 5,
  cursorType: "pointer",
  respectReducedMotion: true,
  variantColorResolver,
  components: {
    Portal: { defaultProps: { target: popups } },
    Button: {
      defaultProps: { size: "sm", variant: "default" },
      vars: (_: unknown, props: { size?: unknown }) => ({ root: { "--button-height": heightOf(props.size) } }),
    },
    ActionIcon: { defaultProps: { variant: "subtle", size: 28 } },
    TextInput: { defaultProps: { size: "sm" } },
    Input: {
      vars: (_: unknown, props: { size?: unknown }) => ({
        wrapper: { "--input-height": heightOf(props.size), "--input-fz": "13px" },
      }),
    },
    Select: { defaultProps: { size: "sm", withCheckIcon: false, allowDeselect: false } },
    SegmentedControl: { defaultProps: { transitionDuration: 0 } },
    Checkbox: { defaultProps: { size: "xs", styles: { input: { width: 14, height: 14 } } } },
    Switch: { defaultProps: { size: "xs", withThumbIndicator: false } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false, multiline: true } },
    // Without a tabindex of its own an item that is locked is no place for the focus, which a menu gives to its first other one.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, menuItemTabIndex: undefined, shadow: undefined, position: "bottom-end", offset: 4 } },
    Modal: { defaultProps: { centered: true, radius: 8, overlayProps: { backgroundOpacity: 0.32 } } },
  },
})
