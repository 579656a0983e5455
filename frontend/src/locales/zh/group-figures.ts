export const groupFigures = {
  groupFigures: {
    noDrain: {
      lag_unknown: "堆积未知",
      rates_unknown: "速率尚未测得",
      not_falling: "消费没有明显快于写入",
      growing: "最近几分钟堆积在增长",
    },
    deadLetters: "死信",
  },
}
