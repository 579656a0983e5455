export const jobTarget = {
  jobTarget: {
    kind: "Writes to",
    kinds: { topic: "Topic", parquet: "Parquet file" },
    topicWords: "copies are sent to a topic, of this cluster or another",
    parquetWords: "one file among the files of the job; nothing is sent",
    file: "a Parquet file of the job",
    copies: "How copies are sent",
    order: "Order kept within",
    orders: { queue: "Queue", key: "Key" },
    orderWords: {
      queue: "the messages of a queue stay together, in their order",
      key: "the messages of a key go to the queue that producers choose for it",
    },
    keep: { unique_id: "Keep the message ID", born_at: "Keep the time of sending" },
    keepWords: {
      unique_id: "the copies are found by the ID of their original",
      born_at: "the copies say when their originals were sent",
    },
    keysFile: "File with keys",
    keysFileWords: "a text file with a key on each line, below the folder for jobs on the server; keys above add to it",
  },
}
