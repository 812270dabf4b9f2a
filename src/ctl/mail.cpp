// musterctl mail.
#include "service/mail.hpp"

#include "base/printable.hpp"
#include "base/settings.hpp"
#include "ctl/command.hpp"
#include "ctl/table.hpp"
#include "service/access/organizations.hpp"

namespace muster::ctl {
namespace {

std::string address_argument(const Invocation& in) {
    if (in.arguments.size() != 1) {
        throw UsageError("`mail test` needs one ADDRESS, such as ada@example.org", "mail test");
    }
    return checked_value("ADDRESS", in.arguments.front(), service::checked_address);
}

std::string text_of(const service::MailTest& test, const std::string& url,
                    const std::string& address) {
    std::string text;
    if (test.is_accepted) {
        text = url + " accepted a message for " + printable(address) + "\n";
    } else {
        text =
            url + " did not accept a message for " + printable(address) + ": " + test.reason + "\n";
    }
    if (!test.answer.empty()) text += "its answer: " + printable(test.answer) + "\n";
    text += test.is_accepted ? "If the message does not arrive, see the mail server's log and the "
                               "recipient's spam folder.\n"
                             : "See [mail] in muster.conf(5).\n";
    return text;
}

}  // namespace

Result test_mail(const Invocation& in) {
    const std::string address = address_argument(in);
    const std::string& url = in.context.settings.mail.url;
    const service::MailTest test = service::send_test_mail(in.context.settings, address);
    Result result;
    result.json["address"] = address;
    result.json["server"] = url;
    result.json["accepted"] = test.is_accepted;
    result.json["answer"] = test.answer.empty() ? Json::Value() : as_utf8(test.answer);
    result.json["reason"] = test.reason.empty() ? Json::Value() : Json::Value(test.reason);
    result.text = text_of(test, url, address);
    result.status = test.is_accepted ? 0 : 1;
    return result;
}

}  // namespace muster::ctl
