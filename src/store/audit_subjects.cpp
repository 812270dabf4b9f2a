#include "store/audit_subjects.hpp"

namespace muster::store {

using db::column;
using db::columns;
using db::OrgSql;
using rules::AuditSubject;
using rules::SubjectKind;

namespace {

constexpr auto named(std::string_view id, std::string_view name, std::string_view outer = "NULL",
                     std::string_view inner = "NULL") {
    return columns<AuditSubject>(column<&AuditSubject::id>(id), column<&AuditSubject::name>(name),
                                 column<&AuditSubject::outer>(outer),
                                 column<&AuditSubject::inner>(inner));
}

constexpr auto kNamed = named("id", "name");

constexpr auto kNamedAdmin = named("s.admin_id", "a.email");
constexpr OrgSql kFindAdmins{"audit_subjects.find_admins", kNamedAdmin,
                             "SELECT {columns} FROM seats s FORCE INDEX (PRIMARY) "
                             "STRAIGHT_JOIN admins a ON a.id = s.admin_id "
                             "WHERE s.organization_id = :org AND s.admin_id IN ({?})"};
constexpr OrgSql kFindApiKeys{"audit_subjects.find_api_keys", kNamed,
                              "SELECT {columns} FROM api_keys FORCE INDEX (PRIMARY) "
                              "WHERE organization_id = :org AND id IN ({?})"};
constexpr auto kNamedArticle = named("id", "title");
constexpr OrgSql kFindArticles{"audit_subjects.find_articles", kNamedArticle,
                               "SELECT {columns} FROM articles FORCE INDEX (PRIMARY) "
                               "WHERE organization_id = :org AND id IN ({?})"};
constexpr auto kNamedAttribute = named("attribute_key", "label");
constexpr OrgSql kFindAttributes{"audit_subjects.find_attributes", kNamedAttribute,
                                 "SELECT {columns} FROM attributes FORCE INDEX (attribute_key) "
                                 "WHERE organization_id = :org AND attribute_key IN ({?})"};
constexpr OrgSql kFindCampaigns{"audit_subjects.find_campaigns", kNamed,
                                "SELECT {columns} FROM ad_campaigns FORCE INDEX (PRIMARY) "
                                "WHERE organization_id = :org AND id IN ({?})"};
constexpr OrgSql kFindConnections{
    "audit_subjects.find_connections", kNamed,
    "SELECT {columns} FROM connections FORCE INDEX (PRIMARY) "
    "WHERE organization_id = :org AND id IN ({?}) AND removed_at IS NULL"};
constexpr auto kNamedCreative =
    named("id", "COALESCE(NULLIF(alt, ''), CONCAT(width, 'x', height))", "campaign_id");
constexpr OrgSql kFindCreatives{"audit_subjects.find_creatives", kNamedCreative,
                                "SELECT {columns} FROM ad_creatives FORCE INDEX (PRIMARY) "
                                "WHERE organization_id = :org AND id IN ({?})"};
constexpr auto kNamedCredential = named("id", "name", "installation_id");
constexpr OrgSql kFindCredentials{"audit_subjects.find_credentials", kNamedCredential,
                                  "SELECT {columns} FROM module_credentials FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id IN ({?})"};
constexpr auto kNamedDelivery = named("d.id", "e.type", "w.installation_id", "d.endpoint_id");
constexpr OrgSql kFindDeliveries{
    "audit_subjects.find_deliveries", kNamedDelivery,
    "SELECT {columns} FROM webhook_deliveries d FORCE INDEX (PRIMARY) "
    "STRAIGHT_JOIN webhook_events e ON e.organization_id = :org AND e.id = d.event_id "
    "STRAIGHT_JOIN webhook_endpoints w ON w.organization_id = :org AND w.id = d.endpoint_id "
    "WHERE d.organization_id = :org AND d.id IN ({?}) AND w.removed_at IS NULL"};
constexpr auto kNamedEndpoint = named("id", "LEFT(url, 255)", "installation_id");
constexpr OrgSql kFindEndpoints{
    "audit_subjects.find_endpoints", kNamedEndpoint,
    "SELECT {columns} FROM webhook_endpoints FORCE INDEX (PRIMARY) "
    "WHERE organization_id = :org AND id IN ({?}) AND removed_at IS NULL"};
constexpr auto kNamedImport = named("id", "file_name");
constexpr OrgSql kFindImports{"audit_subjects.find_imports", kNamedImport,
                              "SELECT {columns} FROM import_jobs FORCE INDEX (PRIMARY) "
                              "WHERE organization_id = :org AND id IN ({?})"};
constexpr auto kNamedInstallation = named("i.id", "m.name");
constexpr OrgSql kFindInstallations{
    "audit_subjects.find_installations", kNamedInstallation,
    "SELECT {columns} FROM module_installations i FORCE INDEX (PRIMARY) "
    "STRAIGHT_JOIN modules m ON m.organization_id = :org AND m.id = i.module_id "
    "WHERE i.organization_id = :org AND i.id IN ({?})"};
constexpr auto kNamedInvitation = named("id", "email");
constexpr OrgSql kFindInvitations{"audit_subjects.find_invitations", kNamedInvitation,
                                  "SELECT {columns} FROM seat_invitations FORCE INDEX (PRIMARY) "
                                  "WHERE organization_id = :org AND id IN ({?})"};
constexpr auto kNamedMember =
    named("user_id", "LEFT(COALESCE(NULLIF(search_name, ''), email), 255)");
constexpr OrgSql kFindMembers{"audit_subjects.find_members", kNamedMember,
                              "SELECT {columns} FROM members FORCE INDEX (PRIMARY) "
                              "WHERE organization_id = :org AND user_id IN ({?})"};
constexpr auto kNamedMemberJob = named("id", "action");
constexpr OrgSql kFindMemberJobs{"audit_subjects.find_member_jobs", kNamedMemberJob,
                                 "SELECT {columns} FROM member_jobs FORCE INDEX (PRIMARY) "
                                 "WHERE organization_id = :org AND id IN ({?})"};
constexpr OrgSql kFindModules{"audit_subjects.find_modules", kNamed,
                              "SELECT {columns} FROM modules FORCE INDEX (PRIMARY) "
                              "WHERE organization_id = :org AND id IN ({?})"};
constexpr OrgSql kFindPublishableKeys{
    "audit_subjects.find_publishable_keys", kNamed,
    "SELECT {columns} FROM publishable_keys FORCE INDEX (PRIMARY) "
    "WHERE organization_id = :org AND id IN ({?})"};
constexpr OrgSql kFindSlots{"audit_subjects.find_slots", kNamed,
                            "SELECT {columns} FROM ad_slots FORCE INDEX (PRIMARY) "
                            "WHERE organization_id = :org AND id IN ({?})"};

// In the order of SubjectKind.
constexpr std::array kFindSubjects = {
    &kFindAdmins,      &kFindApiKeys,         &kFindArticles,    &kFindAttributes, &kFindCampaigns,
    &kFindConnections, &kFindCreatives,       &kFindCredentials, &kFindDeliveries, &kFindEndpoints,
    &kFindImports,     &kFindInstallations,   &kFindInvitations, &kFindMembers,    &kFindMemberJobs,
    &kFindModules,     &kFindPublishableKeys, &kFindSlots};
static_assert(kFindSubjects.size() == static_cast<std::size_t>(SubjectKind::Slot) + 1);

}  // namespace

std::vector<AuditSubject> find_audit_subjects(db::OrgStore& org, SubjectKind kind,
                                              std::span<const std::string> ids) {
    return org.all_in(*kFindSubjects.at(static_cast<std::size_t>(kind)), ids);
}

}  // namespace muster::store
