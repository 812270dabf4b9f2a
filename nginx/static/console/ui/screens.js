// All screens: their addresses, and where the navigation lists them. A screen's module is loaded when it is first opened.
import { texts } from "../lib/texts.js"

const t = texts.shell.links

/** @type {Array<[string, () => Promise<{ default: any }>]>} */
export const SCREENS = [
  ["home", () => import("../home/home.js")],
  ["organization", () => import("../organization/organization.js")],
  ["members", () => import("../members/list.js")],
  ["members/:id", () => import("../members/member.js")],
  ["member-jobs", () => import("../member_jobs/list.js")],
  ["member-jobs/:id", () => import("../member_jobs/job.js")],
  ["imports", () => import("../imports/list.js")],
  ["imports/new", () => import("../imports/start.js")],
  ["imports/:id", () => import("../imports/job.js")],
  ["keys", () => import("../keys/list.js")],
  ["attributes", () => import("../attributes/list.js")],
  ["modules", () => import("../modules/list.js")],
  ["modules/:id", () => import("../modules/module.js")],
  ["modules/:id/versions/new", () => import("../modules/new_version.js")],
  ["modules/:id/versions/:version", () => import("../modules/version.js")],
  ["installations", () => import("../installations/list.js")],
  ["installations/:id", () => import("../installations/installation.js")],
  ["webhooks", () => import("../webhooks/endpoints.js")],
  ["webhooks/endpoints/:installation/:id", () => import("../webhooks/endpoint.js")],
  ["webhooks/deliveries", () => import("../webhooks/deliveries.js")],
  ["webhooks/deliveries/:installation/:endpoint/:id", () => import("../webhooks/delivery.js")],
  ["account", () => import("../account/account.js")],
  ["team", () => import("../team/list.js")],
  ["connections", () => import("../connections/list.js")],
  ["articles", () => import("../articles/list.js")],
  ["articles/new", () => import("../articles/new.js")],
  ["articles/:id", () => import("../articles/article.js")],
  ["ads", () => import("../ads/list.js")],
  ["ads/new", () => import("../ads/edit.js")],
  ["ads/:id", () => import("../ads/campaign.js")],
  ["ads/:id/edit", () => import("../ads/edit.js")],
  ["slots", () => import("../slots/list.js")],
  ["page-keys", () => import("../pages/list.js")],
  ["page-keys/:kind/:id", () => import("../pages/key.js")],
  ["events", () => import("../events/list.js")],
  ["audit", () => import("../audit/log.js")],
]

/** @type {Array<[string, Array<[string, string]>]>} families, each with the first part of an address and its text */
export const NAVIGATION = [
  [t.overview, [["home", t.home], ["organization", t.organization]]],
  [t.people, [["members", t.members], ["imports", t.imports], ["member-jobs", t.memberJobs], ["attributes", t.attributes]]],
  [t.data, [["connections", t.connections]]],
  [t.modulesFamily, [["modules", t.modules], ["installations", t.installations], ["webhooks", t.webhooks]]],
  [t.content, [["articles", t.articles], ["ads", t.ads], ["slots", t.slots]]],
  [t.pages, [["page-keys", t.pageKeys], ["events", t.events]]],
  [t.access, [["team", t.team], ["keys", t.keys], ["audit", t.audit]]],
]

/** The screen after the sign-in. */
export const HOME = "home"
