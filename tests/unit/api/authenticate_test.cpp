// api/authenticate.hpp: which caller may use which endpoint, and that the description declares
// every refusal.
#include "api/authenticate.hpp"

#include "base/crypto.hpp"
#include "base/text.hpp"
#include "rules/access/roles.hpp"
#include "rules/seal_names.hpp"
#include "service/callers.hpp"
#include "unit/api/offline_context.hpp"

#include "print.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace muster;
using api::Access;
using api::Endpoint;
using rules::Role;
using service::Caller;

namespace {

const OrgId kAcme = OrgId::create();

Endpoint endpoint(Access access, Role role = Role::Viewer) {
    return {.path = "/v1/things", .operation = "doIt", .access = access, .role = role};
}

Caller key(Role role = Role::Admin) {
    Caller caller;
    caller.actor.organization = kAcme;
    caller.actor.api_key = ApiKeyId::create();
    caller.key_role = role;
    return caller;
}

Caller session(std::optional<Role> role, bool is_verified = true) {
    Caller caller;
    caller.actor.organization = kAcme;
    caller.actor.admin = AdminId::create();
    caller.session.emplace();
    caller.session->admin_id = *caller.actor.admin;
    caller.session->active_organization_id = kAcme;
    caller.session->role = role;
    if (is_verified) caller.session->verified_at = Timestamp(1);
    return caller;
}

Caller module() {
    Caller caller;
    caller.actor.organization = kAcme;
    caller.module = {CredentialId::create(), InstallationId::create(), ""};
    return caller;
}

http::Request expecting(const std::string& organization) {
    http::Request request;
    request.expect_organization = organization;
    request.has_expect_organization = true;
    return request;
}

// The error that the caller receives; nullopt if the caller is authorized.
std::optional<Error> refusal(const Endpoint& row, const Caller& caller,
                             const http::Request& request = {}) {
    try {
        api::authorize(row, caller, request);
        return std::nullopt;
    } catch (const Error& error) {
        return error;
    }
}
std::string error_text(const Endpoint& row, const Caller& caller,
                       const http::Request& request = {}) {
    const auto error = refusal(row, caller, request);
    return error ? std::string(error_entry(error->code()).text) : "";
}

const std::string kForbidden(error_entry(ErrorCode::Forbidden).text);
const std::string kTwoFactor(error_entry(ErrorCode::TwoFactorRequired).text);
const std::string kConflict(error_entry(ErrorCode::Conflict).text);
const std::string kBadRequest(error_entry(ErrorCode::BadRequest).text);

bool declares(const Endpoint& row, ErrorCode code) {
    const auto errors = api::errors_of(row);
    return std::find(errors.begin(), errors.end(), code) != errors.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(authenticate)

BOOST_AUTO_TEST_CASE(an_organization_key_is_accepted_only_by_partner_endpoints) {
    for (const Role role : {Role::Viewer, Role::Admin}) {
        BOOST_TEST(error_text(endpoint(Access::OrganizationOrAdmin, role), key(role)) == "");
        for (const Access access :
             {Access::Session, Access::VerifiedSession, Access::Admin, Access::Module}) {
            BOOST_TEST(error_text(endpoint(access, role), key()) == kForbidden,
                       api::text_of(access));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_key_has_the_rights_of_its_role) {
    const auto at = [](Role role) { return endpoint(Access::OrganizationOrAdmin, role); };
    BOOST_TEST(error_text(at(Role::Viewer), key(Role::Admin)) == "");
    BOOST_TEST(error_text(at(Role::Admin), key(Role::Viewer)) == kForbidden);
    BOOST_TEST(error_text(at(Role::Owner), key(Role::Admin)) == kForbidden);
}

BOOST_AUTO_TEST_CASE(a_module_is_accepted_only_by_module_endpoints) {
    BOOST_TEST(error_text(endpoint(Access::Module), module()) == "");
    for (const Access access :
         {Access::Session, Access::VerifiedSession, Access::Admin, Access::OrganizationOrAdmin}) {
        BOOST_TEST(error_text(endpoint(access), module()) == kForbidden, api::text_of(access));
    }
    for (const Caller& caller : {session(Role::Owner), session(Role::Owner, false)}) {
        BOOST_TEST(error_text(endpoint(Access::Module), caller) == kForbidden);
    }
    BOOST_TEST(error_text(endpoint(Access::Module), module(), expecting(kAcme.text())) == "");
    BOOST_TEST(error_text(endpoint(Access::Module), module(), expecting(OrgId::create().text())) ==
               kConflict);
    BOOST_TEST(error_text(endpoint(Access::Module), module(), expecting("x")) == kBadRequest);
}

BOOST_AUTO_TEST_CASE(an_unverified_session_can_only_use_the_second_factor_endpoints) {
    for (const auto role : {std::optional(Role::Owner), std::optional<Role>()}) {
        const Caller caller = session(role, false);
        BOOST_TEST(error_text(endpoint(Access::Session), caller) == "");
        for (const Access access :
             {Access::VerifiedSession, Access::Admin, Access::OrganizationOrAdmin}) {
            const auto error = refusal(endpoint(access, Role::Owner), caller);
            BOOST_TEST_REQUIRE(error.has_value(), api::text_of(access));
            BOOST_TEST(error->code() == ErrorCode::TwoFactorRequired);
            BOOST_TEST(error->details()["reason"].asString() == "2FA_REQUIRED");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_secret_or_a_seat_requires_a_second_factor_of_the_last_15_minutes) {
    auto row = endpoint(Access::Admin, Role::Admin);
    row.handler.shape.shows_secret = true;
    const auto verified_before = [](Milliseconds span, Role role = Role::Owner) {
        Caller caller = session(role);
        caller.session->verified_at = Timestamp::now() - span;
        return caller;
    };
    const Milliseconds limit = std::chrono::minutes(15);
    const Milliseconds second = std::chrono::seconds(1);
    BOOST_TEST(error_text(row, verified_before(Milliseconds(0))) == "");
    BOOST_TEST(error_text(row, verified_before(limit - second)) == "");
    const auto error = refusal(row, verified_before(limit + second));
    BOOST_TEST_REQUIRE(error.has_value());
    BOOST_TEST(error->code() == ErrorCode::TwoFactorTooOld);
    BOOST_TEST(error->details()["reason"].asString() == "2FA_TOO_OLD");
    auto giving = endpoint(Access::Admin, Role::Admin);
    giving.changes_access = true;
    BOOST_TEST(error_text(giving, verified_before(limit - second)) == "");
    BOOST_TEST(
        (refusal(giving, verified_before(limit + second))->code() == ErrorCode::TwoFactorTooOld));
    BOOST_TEST(declares(giving, ErrorCode::TwoFactorTooOld));
    // A role that is too low is reported first, and other rows do not ask.
    BOOST_TEST(error_text(row, verified_before(limit + second, Role::Viewer)) == kForbidden);
    BOOST_TEST(error_text(endpoint(Access::Admin), verified_before(limit + second)) == "");
    BOOST_TEST(declares(row, ErrorCode::TwoFactorTooOld));
    BOOST_TEST(!declares(endpoint(Access::Admin), ErrorCode::TwoFactorTooOld));
}

BOOST_AUTO_TEST_CASE(a_role_limits_what_a_seat_may_do) {
    const std::vector<Role> roles = {Role::Viewer, Role::Admin, Role::Owner};
    for (const Access access : {Access::Admin, Access::OrganizationOrAdmin}) {
        for (const Role wanted : roles) {
            for (const Role has : roles) {
                BOOST_TEST(error_text(endpoint(access, wanted), session(has)) ==
                               (has >= wanted ? "" : kForbidden),
                           api::text_of(access) << ": " << rules::text_of(has) << " where "
                                                << rules::text_of(wanted) << " is wanted");
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(an_admin_without_a_seat_cannot_read_but_can_switch_organization_and_sign_out) {
    const Caller gone = session(std::nullopt);
    for (const Access access : {Access::Admin, Access::OrganizationOrAdmin}) {
        BOOST_TEST(error_text(endpoint(access, Role::Viewer), gone) == kForbidden);
    }
    for (const Access access : {Access::Session, Access::VerifiedSession}) {
        BOOST_TEST(error_text(endpoint(access, Role::Owner), gone) == "", api::text_of(access));
    }
}

BOOST_AUTO_TEST_CASE(an_expected_organization_must_match_the_caller) {
    const auto row = endpoint(Access::OrganizationOrAdmin, Role::Admin);
    for (const Caller& caller : {key(), session(Role::Owner)}) {
        BOOST_TEST(error_text(row, caller, expecting(kAcme.text())) == "");
        BOOST_TEST(error_text(row, caller, expecting(OrgId::create().text())) == kConflict);
        for (const std::string bad : {"", "acme", "*", " "}) {
            BOOST_TEST(error_text(row, caller, expecting(bad)) == kBadRequest, bad);
        }
        BOOST_TEST(error_text(row, caller, expecting(kAcme.text() + "," + kAcme.text())) ==
                   kBadRequest);
        http::Request unasked = expecting(OrgId::create().text());
        unasked.has_expect_organization = false;
        BOOST_TEST(error_text(row, caller, unasked) == "");
    }
    for (const Access access : {Access::Session, Access::VerifiedSession}) {
        BOOST_TEST(error_text(endpoint(access), session(std::nullopt),
                              expecting(OrgId::create().text())) == kConflict);
    }
}

BOOST_AUTO_TEST_CASE(an_organization_mismatch_is_not_revealed_to_other_credentials) {
    const auto elsewhere = expecting(OrgId::create().text());
    BOOST_TEST(error_text(endpoint(Access::Admin), key(), elsewhere) == kForbidden);
    BOOST_TEST(error_text(endpoint(Access::Admin), session(Role::Owner, false), elsewhere) ==
               kTwoFactor);
    BOOST_TEST(error_text(endpoint(Access::Admin, Role::Owner), session(Role::Viewer), elsewhere) ==
               kConflict);
}

BOOST_AUTO_TEST_CASE(every_refusal_is_declared_by_the_row_that_it_comes_from) {
    const std::vector<Caller> callers = {key(),
                                         module(),
                                         session(Role::Owner, false),
                                         session(std::nullopt, false),
                                         session(std::nullopt),
                                         session(Role::Viewer),
                                         session(Role::Admin),
                                         session(Role::Owner)};
    const std::vector<http::Request> requests = {
        {}, expecting(kAcme.text()), expecting(OrgId::create().text()), expecting("x")};
    for (const Access access : {Access::Session, Access::VerifiedSession, Access::Admin,
                                Access::OrganizationOrAdmin, Access::Module}) {
        for (const Role role : {Role::Viewer, Role::Admin, Role::Owner}) {
            const auto row = endpoint(access, role);
            // Every row rejects an unknown query before its handler runs.
            std::set<ErrorCode> met = {ErrorCode::Unauthorized, ErrorCode::ValidationError};
            for (const Caller& caller : callers) {
                for (const auto& request : requests) {
                    if (const auto error = refusal(row, caller, request)) met.insert(error->code());
                }
            }
            // A row declares only errors that it can return.
            const std::vector<ErrorCode> expected(met.begin(), met.end());
            BOOST_TEST(api::errors_of(row) == expected, api::text_of(access)
                                                            << " " << rules::text_of(role));
        }
    }
    BOOST_TEST(api::errors_of(endpoint(Access::Open)).empty());
}

BOOST_AUTO_TEST_CASE(a_row_declares_its_own_errors_and_those_of_its_access) {
    constexpr std::array kOwn = {ErrorCode::NotFound, ErrorCode::Conflict};
    auto row = endpoint(Access::OrganizationOrAdmin, Role::Admin);
    row.errors = kOwn;
    for (const auto code : {ErrorCode::NotFound, ErrorCode::Conflict, ErrorCode::Unauthorized,
                            ErrorCode::Forbidden, ErrorCode::TwoFactorRequired}) {
        BOOST_TEST(declares(row, code), error_entry(code).text);
    }
    const auto errors = api::errors_of(row);
    BOOST_TEST(std::count(errors.begin(), errors.end(), ErrorCode::Conflict) == 1);
    row.access = Access::Open;
    BOOST_TEST(api::errors_of(row).size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_row_declares_the_errors_of_its_path_body_and_key) {
    auto row = endpoint(Access::OrganizationOrAdmin, Role::Admin);
    const auto count = api::errors_of(row).size();
    BOOST_TEST(!declares(row, ErrorCode::NotFound));
    row.path = "/v1/things/{id}";
    BOOST_TEST(declares(row, ErrorCode::NotFound));
    row.path = "/v1/attributes/{key}";  // a name: the handler decides whether it exists
    BOOST_TEST(!declares(row, ErrorCode::NotFound));
    row.body_limit = 1;
    BOOST_TEST(declares(row, ErrorCode::PayloadTooLarge));
    BOOST_TEST(declares(row, ErrorCode::UnsupportedMediaType));
    BOOST_TEST(!declares(row, ErrorCode::IdempotencyConflict));
    row.idempotency = api::IdempotencyKey::Accepted;
    BOOST_TEST(declares(row, ErrorCode::IdempotencyConflict));
    BOOST_TEST(declares(row, ErrorCode::IdempotencyInProgress));
    BOOST_TEST(!declares(row, ErrorCode::IdempotencyKeyRequired));
    row.idempotency = api::IdempotencyKey::Required;
    BOOST_TEST(declares(row, ErrorCode::IdempotencyKeyRequired));
    BOOST_TEST(api::errors_of(row).size() == count + 5);
}

BOOST_AUTO_TEST_CASE(a_module_request_is_signed_with_the_secret_of_its_credential) {
    test::OfflineContext offline;
    const Secret secret("mks_secret");
    service::ModuleCaller caller{CredentialId::create(), InstallationId::create(), ""};
    const auto seal_for = [&](CredentialId id) {
        return offline.context.keys.seal(secret.reveal(), rules::credential_seal_name(id));
    };
    caller.sealed_signing_secret = seal_for(caller.credential);
    http::Request request;
    request.idempotency_key = "k";
    const auto sign = [&](Milliseconds ago) {
        const auto seconds = std::to_string((Timestamp::now() - ago).milliseconds() / 1000);
        request.signature =
            "t=" + seconds + ",v1=" + to_hex(hmac_sha256(secret.reveal(), seconds + ".k.body"));
    };
    const auto reason = [&](const std::string& body) -> std::string {
        try {
            api::require_signature(offline.context, caller, request, body);
            return "";
        } catch (const Error& error) {
            BOOST_TEST(error.code() == ErrorCode::SignatureInvalid);
            return error.details()["reason"].asString();
        }
    };
    std::set<std::string> reasons = {reason("body")};  // not signed yet
    sign(Milliseconds(0));
    BOOST_TEST(reason("body") == "");
    reasons.insert(reason("Body"));
    for (const int seconds : {310, -310}) {
        sign(Milliseconds(1000 * seconds));
        reasons.insert(reason("body"));
    }
    BOOST_TEST(reasons.size() == 3U);
    BOOST_TEST(!reasons.contains(""));
    // A sealed secret that was moved from another row is not valid.
    sign(Milliseconds(0));
    caller.sealed_signing_secret = seal_for(CredentialId::create());
    BOOST_CHECK_EXCEPTION(
        api::require_signature(offline.context, caller, request, "body"), Error,
        [](const Error& error) { return error.code() == ErrorCode::ServiceUnavailable; });
}

BOOST_AUTO_TEST_CASE(a_bearer_token_follows_the_scheme) {
    const auto token = [](const std::string& header) {
        http::Request request;
        request.authorization = header;
        return std::string(http::bearer_token(request));
    };
    BOOST_TEST(token("Bearer abc") == "abc");
    BOOST_TEST(token("bEARER   abc ") == "abc");
    for (const std::string none : {"", "Bearer", "Bearer ", "Basic abc", "abc", "Bearerabc"}) {
        BOOST_TEST(token(none) == "", none);
    }
}

BOOST_AUTO_TEST_SUITE_END()
