#include "db/admins.hpp"

#include "base/json.hpp"

#include <regex>

namespace muster::test {

std::vector<AdminFixture::Sent> AdminFixture::mails() {
    std::vector<Sent> sent;
    for (auto rows = client.query("SELECT id, content FROM mail_outbox ORDER BY id");
         rows.next();) {
        const auto plain = context.keys.open(rows.bytes(2), "mail:" + rows.id<MailId>(1).text());
        Json::Value mail;
        if (!plain || !parse_json(plain->reveal(), mail))
            throw std::runtime_error("the mail cannot be read");
        std::smatch code;
        const std::string text = mail["text"].asString();
        std::regex_search(text, code, std::regex("\\b[0-9]{8}\\b"));
        sent.push_back({mail["to"].asString(), mail["subject"].asString(), text, code.str(),
                        rows.bytes(2).size()});
    }
    return sent;
}

void AdminFixture::advance_time(Milliseconds span) {
    const std::int64_t by = span.count();
    client.execute("UPDATE otp_codes SET expires_at = expires_at - ?", by);
    client.execute("UPDATE admins SET second_factor_paused_until = second_factor_paused_until - ?",
                   by);
    client.execute(
        "UPDATE sessions SET last_used_at = last_used_at - ?, expires_at = expires_at - ?", by, by);
    struct Row {
        std::string kind;
        std::string subject;
        std::string spent;
    };
    std::vector<Row> budgets;
    for (auto rows = client.query("SELECT kind, subject, spent FROM guess_budgets"); rows.next();) {
        budgets.push_back({rows.bytes(1), rows.bytes(2), rows.bytes(3)});
    }
    for (const Row& row : budgets) {
        std::string moved;
        for (std::size_t at = 0; at < row.spent.size(); at += 8) {
            std::uint64_t when = 0;
            for (std::size_t i = 0; i < 8; ++i) {
                when = when << 8U | static_cast<unsigned char>(row.spent[at + i]);
            }
            when -= static_cast<std::uint64_t>(by);
            for (int shift = 56; shift >= 0; shift -= 8) {
                moved += static_cast<char>(when >> shift & 0xffU);
            }
        }
        client.execute("UPDATE guess_budgets SET spent = ? WHERE kind = ? AND subject = ?", moved,
                       row.kind, row.subject);
    }
}

}  // namespace muster::test
