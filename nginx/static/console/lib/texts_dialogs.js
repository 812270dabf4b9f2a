// The texts of conflicts of If-Match, in English. They are loaded with the forms.
export const dialogs = {
  conflict: "Another admin changed this in the meantime. Nothing was saved. Look at the current values, then repeat your change.",
  unsure: "The result of an earlier attempt is unknown. It may have been saved. Look at the current values before you repeat your change.",
}
