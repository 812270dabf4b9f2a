// The texts of the attributes of an organization.
import { isolating } from "./isolate.js"

export const attributes = isolating({
  title: "Attributes",
  hint: "Attributes are your own fields of members. Imports and the API accept the enabled ones.",
  columns: ["Label", "Key", "Type", "Choices", "State"],
  types: { text: "Text", number: "Number", date: "Date", boolean: "Yes or no", single_choice: "One choice", multi_choice: "Several choices" },
  on: "Enabled",
  off: "Disabled",
  add: "Add an attribute",
  change: "Change",
  changeTitle: label => `Change ${label}`,
  key: "Key",
  keyHint: "Lower-case letters, digits and _, such as favorite_boat. The key cannot change later.",
  label: "Label",
  labelHint: "What admins read. Without it, the key is shown.",
  type: "Type",
  typeHint: "The type can change only while no member has a value.",
  choices: "Choices",
  choicesHint: "One a line. Members keep a value that is no longer a choice.",
  enabled: "Enabled",
  enabledHint: "Members keep the values of a disabled attribute, but the values cannot be written.",
  saved: "The attribute was saved.",
  taken: "An attribute with this key exists already. Choose another key, or change that attribute.",
})
