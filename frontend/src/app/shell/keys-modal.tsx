import { Kbd, Modal, Table } from "@mantine/core"
import { useTranslation } from "react-i18next"

const KEYS = [
  ["Ctrl / ⌘ K", "palette"],
  ["/", "filter"],
  ["g o", "overview"],
  ["g t", "topics"],
  ["g g", "groups"],
  ["g m", "messages"],
  ["g j", "jobs"],
  ["j  k", "rows"],
  ["Enter", "open"],
  ["Esc", "close"],
  ["r", "refresh"],
  ["?", "sheet"],
] as const

export function KeysModal({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useTranslation()
  return (
    <Modal closeButtonProps={{ "aria-label": t("actions.close") }} opened={isOpen} onClose={onClose} title={t("keys.title")} size="sm">
      <Table verticalSpacing={4}>
        <Table.Tbody>
          {KEYS.map(([keys, act]) => (
            <Table.Tr key={act}>
              <Table.Td w={120}>
                <Kbd>{keys}</Kbd>
              </Table.Td>
              <Table.Td>{t(`keys.${act}`)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  )
}
