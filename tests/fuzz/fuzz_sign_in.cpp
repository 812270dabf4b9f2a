// The input of a sign-in (json/schema.hpp, rules/access/totp.hpp), and the spent guesses from the
// database (rules/access/guess_budget.hpp). Input: a body, or any bytes.
#include "base/email.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "fuzz/fuzz.hpp"
#include "json/json_body.hpp"
#include "json/schema.hpp"
#include "rules/access/guess_budget.hpp"
#include "rules/access/totp.hpp"
#include "rules/members/core_field_checks.hpp"

using namespace muster;
using fuzz::must;

namespace {

struct Typed {
    std::string email;
    std::string otp;
};
constexpr auto kTyped =
    json::object<Typed>(json::required("email", &Typed::email, json::Email{}, "The email."),
                        json::required("otp", &Typed::otp, json::Digits{8}, "The otp."));

const Date kToday = *Date::parse("2026-11-20");

void check_body(std::string_view text) {
    try {
        const json::JsonBody body{std::string(text)};
        const Typed typed = json::decode(kTyped, body.root(), kToday);
        std::string again = typed.email;
        must(!normalize_email(again));
        must(again == typed.email);
        must(typed.otp.size() == 8 && parse_number<std::uint32_t>(typed.otp).has_value());
    } catch (const Error&) {
        return;
    }
}

void check_backup_code(std::string_view typed) {
    static const AdminId kAdmin;
    const std::string hash = rules::backup_code_hash(kAdmin, typed);
    std::string other = "- " + std::string(typed) + " -";
    ascii_upper(other);
    must(hash.size() == 32);
    must(rules::backup_code_hash(kAdmin, other) == hash);
}

void check_budget(std::string_view packed) {
    constexpr Timestamp kNow{1'800'000'000'000};
    constexpr Milliseconds kHour{3600L * 1000};
    rules::SpentTimes spent(packed);
    must(spent.packed().empty() || spent.packed().size() == packed.size());
    const auto seconds = spent.exhausted({20, kHour}, kNow);
    must(!seconds || (*seconds >= 1 && *seconds <= 3600));
    must(!seconds || packed.size() >= 160);
    spent.spend(kNow, kHour);
    must(!spent.packed().empty() && spent.packed().size() <= 512);
    must(spent.exhausted({1, kHour}, kNow) == 3600);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = fuzz::text_of(data, size);
    check_body(input);
    check_backup_code(input);
    check_budget(input);
    return 0;
}
