// Queued mail (table mail_outbox). A mail is inserted in the transaction of its cause, claimed by a
// lease, and deleted after it was sent.
#pragma once

#include "db/transaction.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

// Urgent mail has its own range of the index on next_attempt_at, so other mail does not delay it.
enum class MailUrgency : std::uint8_t { Urgent, Normal };

struct QueuedMail {
    MailId id;
    std::string content;  // sealed
    int attempts = 0;     // before the current one
    Timestamp created_at;
    Timestamp expires_at;
};

void insert_mail(db::Tx& tx, MailUrgency urgency, MailId id, std::string_view content,
                 Timestamp now, Timestamp expires_at);

// Due mails of this urgency without a live lease, the longest due first.
std::vector<MailId> find_due_mails(db::Tx& tx, MailUrgency urgency, Timestamp now, int limit);
// Takes the lease and counts an attempt. False if another runner was faster or the mail is not due.
bool claim_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp now, Timestamp until);
// nullopt if the owner does not hold the lease.
std::optional<QueuedMail> find_claimed_mail(db::Tx& tx, MailId id, const Uuid& owner);
// Ends the lease and makes the mail due at `when`, with the same urgency. Does nothing if the owner
// lost the lease.
void postpone_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp when);
// Deletes the mail regardless of its lease, because a sent mail must not be sent again. Returns the
// number of deleted mails: 0 or 1.
std::int64_t delete_mail(db::Tx& tx, MailId id);

struct MailBacklog {
    std::int64_t mails = 0;
    std::optional<Timestamp> oldest;  // when the oldest mail was queued
};
MailBacklog count_waiting_mails(db::Tx& tx);

}  // namespace muster::store
