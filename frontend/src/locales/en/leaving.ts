export const leaving = {
  leaving: {
    title: "Close this form?",
    filled: "What was filled in has not been sent, and is lost.",
    answered: "What is shown here is shown only now.",
    leave: "Close it",
    stay: "Back to the form",
  },
}
