export const groupFigures = {
  groupFigures: {
    noDrain: {
      lag_unknown: "The lag is not known",
      rates_unknown: "The rates are not measured yet",
      not_falling: "Consumed hardly faster than written, if at all",
      growing: "The lag grew over the last minutes",
    },
    deadLetters: "Dead letters",
  },
}
