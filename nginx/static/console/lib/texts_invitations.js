// The texts of invitations to a team, and of leaving one.
import { isolating } from "./isolate.js"

export const invitations = isolating({
  title: "Invitations",
  hint: "Invitations to teams of other organizations. You get a seat only if you accept.",
  none: "No invitation for you",
  noneHint: email => `You are signed in as ${email}. An invitation is valid for 7 days, and only for the address that it was sent to.`,
  other: email => `The invitation of your link is not for ${email}, or it has expired. These are:`,
  otherAddress: "Sign in with another address",
  ask: "Ask an owner of the organization to invite you again.",
  rights: {
    owner: "Owner: you read and change its data, and manage its team.",
    admin: "Admin: you read and change its data.",
    viewer: "Viewer: you read its data.",
  },
  by: email => `${email ?? "The operator of Muster"} invites you.`,
  until: time => `Valid until ${time}.`,
  accept: "Accept",
  decline: "Decline",
  accepted: (name, role) => `You now have a seat in ${name}, as ${role}.`,
  declineTitle: name => `Decline the invitation to ${name}?`,
  declineHint: "The owners can see it in their audit log. They can invite you again.",
  declined: name => `You declined the invitation to ${name}.`,
  gone: { NOT_FOUND: "This invitation was withdrawn, or it has expired. Ask an owner of the organization to invite you again." },
  back: "Go to your organizations",
})

export const leaving = isolating({
  seats: "Organizations",
  columns: ["Organization", "Role", "Action"],
  leave: "Leave",
  title: name => `Leave ${name}?`,
  list: ["Your access ends at once.", "API keys that you issued stay valid. An owner can revoke them.",
    "Invitations that you sent are withdrawn.", "To return, you need an invitation of an owner."],
  last: "This is your only organization. You are signed out, and cannot sign in until you are invited again.",
  left: name => `You left ${name}.`,
  errors: { INVALID_STATE: "You are the last owner. Make another admin owner first, on the page of the team." },
})
