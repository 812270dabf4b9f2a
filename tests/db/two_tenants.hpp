// An owner with at least one row in every tenant table, and a stranger with the same: for
// the tenancy tests, in which each runs every statement on the rows of the owner.
#pragma once

#include "db/fixture.hpp"
#include "rules/member_jobs/jobs.hpp"

#include "print.hpp"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::rules {
struct ApiKey;
struct AttributeRecord;
struct ImportJob;
}  // namespace muster::rules

namespace muster::store {
struct IdempotencyRecord;
struct NewMember;
}  // namespace muster::store

namespace muster::rules {
using InvitationId = Id<struct InvitationTag>;  // rules/access/team.hpp
}

namespace muster::test {

using db::OrgStore;

inline const std::string kHash(32, 'h');
inline const Timestamp kNow = Timestamp::now();
inline const Timestamp kLater = kNow + Milliseconds(3'600'000);

struct TwoTenants : Fixture {
    struct Tenant {
        OrgId id;
        ImportId job = ImportId::create();
        rules::MemberJobId member_job = rules::MemberJobId::create();
        ApiKeyId key = ApiKeyId::create();
        AttributeId attribute = AttributeId::create();
        MemberId member = MemberId::create();
        UserId user = UserId::create();
        AdminId admin;
        rules::InvitationId invitation = rules::InvitationId::create();
        ModuleId module = ModuleId::create();
        VersionId version = VersionId::create();
        InstallationId installation = InstallationId::create();
        CredentialId credential = CredentialId::create();
        EventId event = EventId::create();
        EndpointId endpoint = EndpointId::create();
        WebhookEventId webhook_event = WebhookEventId::create();
        WebhookEventId outbox_event = WebhookEventId::create();
        DeliveryId delivery = DeliveryId::create();
        AttemptId attempt = AttemptId::create();
        PublishableKeyId tracking_key = PublishableKeyId::create();
        SlotId slot = SlotId::create();
        CampaignId campaign = CampaignId::create();
        CreativeId creative = CreativeId::create();
        ServingId serving = ServingId::create();
        ArticleId article = ArticleId::create();
        ConnectionId connection = ConnectionId::create();
    };

    TwoTenants();
    void create_records(Tenant& tenant, const std::string& name);
    // A campaign in a slot, shown to the member once, with one counted impression.
    void create_ads(const Tenant& tenant);
    // A connection with tokens, a due refresh, and a pending authorization.
    void create_connections(const Tenant& tenant, const std::string& name);
    // A tracking key, and a published article with a tag.
    void create_pages(const Tenant& tenant, const std::string& name);
    // A published module, installed, with a credential, an event, and a delivery that failed once.
    void create_modules(const Tenant& tenant, const std::string& name);
    static rules::AttributeRecord attribute(const Tenant& tenant, const std::string& key);
    static rules::ApiKey api_key(const Tenant& tenant);
    static store::IdempotencyRecord record();
    static store::NewMember empty_member(const Tenant& tenant, std::string_view first_name);
    static rules::ImportJob job(const Tenant& tenant);
    static rules::MemberJob member_job(const Tenant& tenant);
    // Puts the owner's job into a state, with or without a lease for the runner.
    void put_job(std::string_view state, std::optional<Uuid> lease_owner = std::nullopt);
    // Runs `reach` as that tenant in a transaction that is rolled back; returns whether it read or
    // changed a row of the owner. It must send one statement for each of `names`.
    bool reaches(OrgId tenant, const std::vector<std::string>& names,
                 const std::function<bool(OrgStore&)>& reach);
    // `reach` must work for the owner and for no other tenant.
    void check(const std::vector<std::string>& names, const std::function<bool(OrgStore&)>& reach,
               std::optional<OrgId> other = std::nullopt);

    Tenant owner;
    Tenant stranger;
    static inline std::set<std::string> exercised;
};

}  // namespace muster::test
