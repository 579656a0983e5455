import { ExportPanel } from "./export-panel"
import { ImportPanel } from "./import-panel"

/** The definitions of all clusters and of the console as one file: saved, and taken from one. */
export const DefinitionsPanels = ({ cluster }: { cluster: string }) => (
  <>
    <ExportPanel cluster={cluster} />
    <ImportPanel cluster={cluster} />
  </>
)
