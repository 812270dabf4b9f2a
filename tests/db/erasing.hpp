// A person with memberships, staged rows, events and recorded replies, for the tests of erasures.
#pragma once

#include "service/privacy/erasure.hpp"

#include "base/crypto.hpp"
#include "db/imports.hpp"
#include "db/lookups.hpp"
#include "rules/members/fields.hpp"
#include "service/attributes.hpp"
#include "service/idempotency.hpp"
#include "service/members/create.hpp"

#include <string>
#include <vector>

namespace muster::test {

struct Erasing : ImportFixture {
    static inline const std::string kAnn = "ann@x.test";
    static constexpr std::string_view kEmpty =
        R"({"email":null,"external_id":null,"first_name":null,"last_name":null,"display_name":null,)"
        R"("locale":null,"country":null,"dob":null,"attributes":{}})";

    static service::NewRow full_row(std::int64_t number, const std::string& email) {
        auto made = row(number, email, R"({"phone":"0123 456"})");
        made.fields.first_name = "Annabel";
        made.fields.last_name = "Leeson";
        made.fields.external_id = "crm-77";
        return made;
    }

    Erasing() { service::enable_attribute(context, acme, "phone", true); }

    UserId member(OrgId organization, const std::string& email) {
        rules::MemberFields fields;
        fields.email = email;
        fields.first_name = "Annabel";
        return as(organization,
                  [&](service::OrgTransaction& transaction) {
                      return service::create_member(transaction, fields);
                  })
            .member.user_id;
    }
    // A recorded reply with this JSON body.
    void reply(OrgId organization, const std::string& key, const std::string& body) {
        service::transact(context, {organization},
                          service::IdempotencyClaim{sha256(key), kHash, {}},
                          [&](service::OrgTransaction&) {
                              return service::StoredReply{201, "/here", body, {}};
                          });
    }
    // Engagement events of the membership, and webhook events about the user.
    void put_events(OrgId organization, UserId user, int events, int webhooks) {
        client.run("START TRANSACTION");
        for (int i = 0; i < events; ++i) {
            client.execute(
                "INSERT INTO engagement_events (organization_id, id, member_id, action, tags, "
                "occurred_at, received_at) SELECT organization_id, ?, id, 'did', '[]', 1, 1 "
                "FROM members WHERE organization_id = ? AND user_id = ?",
                EventId::create(), organization, user);
        }
        for (int i = 0; i < webhooks; ++i) {
            client.execute(
                "INSERT INTO webhook_events (organization_id, id, type, body, user_id, created_at) "
                "VALUES (?, ?, 'member.updated', '{}', ?, 1)",
                organization, WebhookEventId::create(), user);
        }
        client.run("COMMIT");
    }
    service::Erasure erase(const std::string& email = kAnn) {
        return service::erase_person(context, email, {});
    }
    service::Erasure preview(const std::string& email = kAnn) {
        return service::preview_erasure(context, email);
    }
    std::int64_t users() { return client.number("SELECT COUNT(*) FROM users"); }
    std::int64_t replies() { return client.number("SELECT COUNT(*) FROM idempotency_keys"); }
    // In any organization, in any table that could contain the person.
    std::int64_t traces(const std::string& text) {
        return client.number(
            "SELECT (SELECT COUNT(*) FROM users WHERE LOCATE(?, email)) + "
            "(SELECT COUNT(*) FROM members WHERE LOCATE(?, CONCAT_WS(' ', email, "
            "first_name, last_name, external_id, attributes))) + "
            "(SELECT COUNT(*) FROM import_blocks WHERE LOCATE(?, data)) + "
            "(SELECT COUNT(*) FROM idempotency_keys WHERE LOCATE(?, body)) + "
            "(SELECT COUNT(*) FROM audit_log WHERE LOCATE(?, details))",
            text, text, text, text, text);
    }
    // The subjects of the entries user.erased.
    std::vector<std::string> noted(OrgId organization) {
        return client.column(
            "SELECT subject_id FROM audit_log WHERE action = 'user.erased' AND "
            "organization_id = ? ORDER BY id",
            organization);
    }
    std::string report(ImportId id) {
        std::string text;
        service::write_error_report(context, acme, id, {},
                                    [&](std::string_view piece) { text += piece; });
        return text.substr(text.find('\n') + 1);
    }

    const std::string kHash = std::string(32, 'h');
    OrgId other = organization("Other");
};

}  // namespace muster::test
