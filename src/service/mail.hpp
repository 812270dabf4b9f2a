// Mail to admins: queued in the transaction that causes it and sent by the runner (jobs/kinds.hpp),
// never in a request. The content in the outbox is encrypted because a text may hold a sign-in
// code.
#pragma once

#include "base/sealing.hpp"
#include "service/context.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace muster::net {
class SmtpSender;
}
namespace muster::store {
struct QueuedMail;
}

namespace muster::service {

struct Mail {
    std::string to;
    std::string subject;
    std::string text;
};

// Queues a mail that is dropped if it is not sent before `expires_at`. An empty `to` queues a
// decoy: a row of the same size, encrypted at the same cost, that the runner deletes without
// sending. A request for an unknown address therefore takes as long as one that sends mail, so its
// timing does not reveal who is an admin. Queue the decoy with the subject and text of the real
// mail. Throws std::invalid_argument if the address is too long or contains a control character.
void queue_mail(db::Tx& tx, const KeyRing& keys, const Mail& mail, Timestamp now,
                Timestamp expires_at);
// The same for a sign-in code, for which a person waits. It is sent before other mail.
void queue_urgent_mail(db::Tx& tx, const KeyRing& keys, const Mail& mail, Timestamp now,
                       Timestamp expires_at);

// Sends due mail, for the runner. Each mail is claimed and then sent outside any transaction. If
// the runner is killed, the lease expires and the next runner sends the mail, possibly a second
// time: delivery is at least once. Mail that the server rejects permanently, that expires or that
// cannot be read is deleted; a log line holds its id and the reason.
class MailDispatch {
  public:
    explicit MailDispatch(Context& context);
    ~MailDispatch();
    MailDispatch(const MailDispatch&) = delete;
    MailDispatch& operator=(const MailDispatch&) = delete;

    // Processes a few due mails and returns how many. Calls `should_stop` before each. A due
    // urgent mail waits for one other mail at most, and for urgent ones that were due before it.
    int step(const std::function<bool()>& should_stop);

  private:
    int process_urgent(const std::function<bool()>& should_stop);
    bool process(MailId id);
    void deliver(const store::QueuedMail& queued);
    void remove(MailId id);
    void drop(MailId id, std::string_view event, std::string_view reason);
    void postpone(const store::QueuedMail& queued, std::string_view reason);

    Context& context_;
    std::unique_ptr<net::SmtpSender> sender_;
    Uuid owner_;
};

// The pause after a failed attempt, given the number of attempts before it.
Milliseconds mail_back_off(int attempts);

struct MailTest {
    bool is_accepted = false;
    std::string answer;  // the mail server's words; "" where it said nothing
    std::string reason;  // why it was not accepted
};
// Sends a message to `to` now, with the settings that the runner uses, and takes as long as
// SmtpSender at most. Throws what SmtpSender throws.
MailTest send_test_mail(const Settings& settings, const std::string& to);

// A message for the operator if a mail has waited for more than two minutes, otherwise "".
std::string mail_problem(Context& context);

}  // namespace muster::service
