import { Button, Group, Stack, Textarea } from "@mantine/core"
import { IconPencil } from "@tabler/icons-react"
import { useState } from "react"
import { useTranslation } from "react-i18next"
import { NeedsRight } from "@/components/forms/lock"
import { Callout, PanelFoot } from "@/components/layout/panel"
import { Empty } from "@/components/states/empty"
import { QueryPanel } from "@/components/states/query-panel"
import { toastDone, toastFailed } from "@/components/toast/toast"
import { Time } from "@/components/values/time"
import type { TopicNote as Note } from "@/lib/api-types"
import { count } from "@/lib/format"
import { refusedFields } from "@/lib/problem"
import { useTopicNote } from "../api/get-topic-note"
import { useSetTopicNote } from "../api/set-topic-note"
import classes from "./topics.module.css"

const MOST_CHARACTERS = 10_000

/** What a team wants everybody to know about a topic, in Markdown, with who wrote it last. */
export function TopicNote({ cluster, topic }: { cluster: string; topic: string }) {
  const { t } = useTranslation()
  const note = useTopicNote(cluster, topic)
  const [edited, setEdited] = useState<Note | null>(null)
  return (
    <QueryPanel
      query={note}
      title={t("topicNote.title")}
      note={t("topicNote.note")}
      what={t("topicNote.failed")}
      actions={
        note.data && edited === null ? (
          <NeedsRight right="manage">
            <Button size="xs" leftSection={<IconPencil size={14} stroke={1.6} />} onClick={() => setEdited(note.data)}>
              {t(note.data.text === "" ? "topicNote.write" : "topicNote.edit")}
            </Button>
          </NeedsRight>
        ) : undefined
      }
    >
      {(shown) =>
        edited === null ? (
          <Written note={shown} />
        ) : (
          <Editor cluster={cluster} topic={topic} began={edited} present={shown} onOverwrite={() => setEdited(shown)} onEnd={() => setEdited(null)} />
        )
      }
    </QueryPanel>
  )
}

function Written({ note }: { note: Note }) {
  const { t } = useTranslation()
  if (note.text === "") return <Empty title={t("topicNote.none")} next={t("topicNote.noneNext")} />
  return (
    <>
      {/* The gateway makes it without any HTML of the text: console/notes/markdown.py. */}
      <div className={classes.note} dangerouslySetInnerHTML={{ __html: note.html }} />
      <PanelFoot>
        <span>
          {t("topicNote.by", { name: note.written_by ?? "" })} <Time at={note.written_at} />
        </span>
      </PanelFoot>
    </>
  )
}

interface EditorProps {
  cluster: string
  topic: string
  /** What was there when the editing began. */
  began: Note
  present: Note
  /** Replaces, knowingly, what is there now. */
  onOverwrite: () => void
  onEnd: () => void
}

function Editor({ cluster, topic, began, present, onOverwrite, onEnd }: EditorProps) {
  const { t } = useTranslation()
  const [text, setText] = useState(began.text)
  const save = useSetTopicNote(cluster, topic)
  const refused = refusedFields(save, { text, etag: began.etag })
  const submit = () =>
    save.mutate(
      { text, etag: began.etag },
      {
        onSuccess: (note) => {
          toastDone(t(note.text === "" ? "topicNote.removed" : "topicNote.saved", { topic }))
          onEnd()
        },
        onError: (error) => toastFailed(t("topicNote.notSaved", { topic }), error),
      },
    )
  return (
    <Stack gap={12} p={14}>
      {present.etag !== began.etag && (
        <Callout>
          {t("topicNote.changed", { name: present.written_by ?? "—" })}{" "}
          <Button size="compact-xs" variant="subtle" onClick={onOverwrite}>
            {t("topicNote.overwrite")}
          </Button>
        </Callout>
      )}
      <Textarea
        label={t("topicNote.text")}
        description={t("topicNote.help", { n: count(text.length), most: count(MOST_CHARACTERS) })}
        autosize
        minRows={8}
        maxRows={24}
        value={text}
        error={refused.text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <Group gap={8}>
        <Button variant="filled" disabled={text === began.text || text.length > MOST_CHARACTERS} loading={save.isPending} onClick={submit}>
          {t("topicNote.save")}
        </Button>
        <Button variant="subtle" onClick={onEnd}>
          {t("actions.cancel")}
        </Button>
      </Group>
    </Stack>
  )
}
