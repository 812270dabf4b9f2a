// Mail that waits to be sent (table mail_outbox): written with what it tells of, claimed by lease,
// gone once it is sent.
#pragma once

#include "db/transaction.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::store {

struct QueuedMail {
    MailId id;
    std::string content;  // sealed
    int attempts = 0;     // before the one for which it was claimed
    Timestamp created_at;
    Timestamp expires_at;
};

void insert_mail(db::Tx& tx, MailId id, std::string_view content, Timestamp now,
                 Timestamp expires_at);

// Due and under no live lease, the longest due first.
std::vector<MailId> find_due_mails(db::Tx& tx, Timestamp now, int limit);
// Takes the lease and counts an attempt; false when another runner was faster, or it is not due.
bool claim_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp now, Timestamp until);
// nullopt unless the lease is the owner's.
std::optional<QueuedMail> find_claimed_mail(db::Tx& tx, MailId id, const Uuid& owner);
// Free again for another attempt at `when`. Nothing happens when the lease is no longer the
// owner's.
void postpone_mail(db::Tx& tx, MailId id, const Uuid& owner, Timestamp when);
// Whoever holds the lease: a mail that was sent is not to be sent again. How many went: 0 or 1.
std::int64_t delete_mail(db::Tx& tx, MailId id);

struct MailBacklog {
    std::int64_t mails = 0;
    std::optional<Timestamp> oldest;  // when the one that waits longest was queued
};
MailBacklog count_waiting_mails(db::Tx& tx);

}  // namespace muster::store
