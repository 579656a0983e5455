import { useMediaQuery } from "@mantine/hooks"

const AT_ONCE = { getInitialValueInEffect: false } as const

export const usePhone = () => useMediaQuery("(max-width: 600px)", false, AT_ONCE)
export const useWide = () => useMediaQuery("(min-width: 1280px)", true, AT_ONCE)
