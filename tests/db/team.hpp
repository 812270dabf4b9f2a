// A team for the database tests: invitations, sign-ins with both factors, and errors.
#pragma once

#include "base/error.hpp"
#include "db/admins.hpp"
#include "rules/access/admins.hpp"
#include "rules/access/roles.hpp"
#include "rules/seal_names.hpp"
#include "store/access/admins.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace muster::test {

inline constexpr std::string_view kBob = "bob@example.test";

// The fixture: acme with the owner ann, and no queued mail.
struct TeamFixture : AdminFixture {
    TeamFixture() { client.run("DELETE FROM mail_outbox"); }

    // As the admin, through the API.
    template <class Work>
    auto as_admin(AdminId admin, const Work& work) {
        return database.transaction([&](db::Tx& tx) {
            service::OrgTransaction transaction{tx, {acme, admin}, Timestamp::now()};
            return work(transaction);
        });
    }
    rules::TeamSeat invite(std::string_view email, rules::Role role = rules::Role::Admin) {
        return as_admin(ann, [&](auto& transaction) {
            return service::invite_admin(context, transaction, {std::string(email), role});
        });
    }
    rules::TeamSeat resend(rules::InvitationId id) {
        return as_admin(ann, [&](auto& transaction) {
            return service::resend_invitation(context, transaction, id);
        });
    }
    void withdraw(rules::InvitationId id) {
        as_admin(ann, [&](auto& transaction) {
            service::withdraw_invitation(transaction, id);
            return 0;
        });
    }
    rules::TeamSeat set_role(AdminId admin, rules::Role role, AdminId by) {
        return as_admin(by, [&](auto& transaction) {
            return service::change_role(context, transaction, admin, role);
        });
    }
    void remove(AdminId admin, AdminId by) {
        as_admin(by, [&](auto& transaction) {
            service::remove_seat(context, transaction, admin);
            return 0;
        });
    }

    // Enrolls at the first sign-in. Returns the session's token.
    Secret sign_in_with_two_factors(std::string_view email) {
        auto opened = sign_in(email);
        verify_factor(opened.token);
        return std::move(opened.token);
    }
    void verify_factor(const Secret& token) {
        const auto session = session_of(token).value();
        if (!session.is_enrolled) (void)service::enable_two_factor(context, session);
        client.run("UPDATE admins SET totp_last_step = 0");
        const auto sealed =
            client.value("SELECT totp_secret FROM admins WHERE id = ?", session.admin_id);
        const auto secret =
            context.keys.open(sealed, rules::totp_seal_name(session.admin_id)).value();
        const auto code = rules::totp_code(secret, rules::totp_step(Timestamp::now()));
        BOOST_TEST_REQUIRE(
            service::verify_totp(context, {session_of(token).value(), code.reveal(), "req-2"})
                .is_right);
    }
    // Of a code of the sign-in: "" for a decoy.
    std::string recipient_of_code(std::string_view email) {
        request(email);
        forget_requests();
        return mails().back().to;
    }
    std::vector<Sent> invitations_sent() {
        auto sent = mails();
        std::erase_if(sent, [](const Sent& mail) {
            return mail.subject != "You are invited to an organization in Muster";
        });
        return sent;
    }
    void move_invitations_back(Milliseconds span) {
        client.execute(
            "UPDATE seat_invitations SET created_at = created_at - ?, sent_at = sent_at - ?, "
            "expires_at = expires_at - ?",
            span.count(), span.count(), span.count());
    }
    std::vector<rules::TeamSeat> team(OrgId organization) {
        return service::list_team(context, organization);
    }
    std::vector<rules::TeamSeat> team() { return team(acme); }
    static AdminId id_of(const rules::TeamSeat& seat) { return seat.admin_id.value(); }

    template <class Work>
    static std::optional<Error> error_of(const Work& work) {
        try {
            work();
        } catch (const Error& error) {
            return error;
        }
        return std::nullopt;
    }
    template <class Work>
    static std::string code_of(const Work& work) {
        const auto error = error_of(work);
        return error ? std::string(error_entry(error->code()).text) : "";
    }
    static bool holds(const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    }
};

}  // namespace muster::test
