// Admins for the database tests: seats, sign-ins, and a clock that is advanced by moving stored
// times back.
#pragma once

#include "base/text.hpp"
#include "db/fixture.hpp"
#include "db/lookups.hpp"
#include "rules/access/totp.hpp"
#include "rules/audit.hpp"
#include "service/access/organizations.hpp"
#include "service/access/sessions.hpp"
#include "service/access/sign_in.hpp"
#include "service/access/team.hpp"
#include "service/access/two_factor.hpp"
#include "service/audit.hpp"
#include "service/callers.hpp"

#include <json/value.h>

#include "print.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

inline constexpr Milliseconds kMinute{60'000};
inline constexpr Milliseconds kHour = 60 * kMinute;
inline constexpr Milliseconds kDay = 24 * kHour;

// The fixture: one organization with the owner ann@example.test.
struct AdminFixture : Fixture {
    // The content of a mail in the outbox, opened with the installation's key.
    struct Sent {
        std::string to;
        std::string subject;
        std::string text;
        std::string code;
        std::size_t size = 0;  // of the sealed content
    };
    // In the order in which they were queued.
    std::vector<Sent> mails();

    void request(std::string_view email = kAnn) { service::request_sign_in_code(context, email); }
    // The newest mail's code.
    std::string sent_code() { return mails().back().code; }
    std::optional<service::SignedIn> verify(std::string_view code, std::string_view email = kAnn) {
        return service::verify_sign_in_code(context, email, code, "req-1");
    }
    // A new session of that admin, before the second factor.
    service::NewSession sign_in(std::string_view email = kAnn) {
        request(email);
        auto signed_in = verify(sent_code(), email);
        forget_requests();
        return std::move(signed_in.value().opened);
    }
    // Allows a test to request another code immediately.
    void forget_requests() { client.run("DELETE FROM guess_budgets WHERE kind = 'otp_request'"); }
    // The result for a request with this token.
    std::optional<rules::Session> session_of(const Secret& token) {
        const auto caller = test::find_caller(context, token.reveal());
        return caller ? caller->session : std::nullopt;
    }

    // Moves everything that sign-in stores back by `span`.
    void advance_time(Milliseconds span);

    std::vector<rules::AuditEntry> log(OrgId organization) {
        return service::list_audit_log(context, organization, {}, {}, 100).entries;
    }
    std::vector<std::string> actions(OrgId organization) {
        std::vector<std::string> found;
        for (const auto& entry : log(organization)) found.push_back(entry.action);
        return found;
    }

    static constexpr std::string_view kAnn = "ann@example.test";
    OrgId acme = organization("Acme");
    AdminId ann = service::add_admin(context, acme, kAnn, "owner").id;
};

}  // namespace muster::test
