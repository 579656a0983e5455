import { ExportPanel } from "./export-panel"

/** The definitions of all clusters and of the console as one file. */
export const DefinitionsPanels = ({ cluster }: { cluster: string }) => <ExportPanel cluster={cluster} />
