// Mail to admins: queued in the transaction that it tells of, sent by the runner (jobs/kinds.hpp),
// never in a request. The outbox's content is sealed: a text may hold a sign-in code.
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

// Queues a mail that is worth nothing after `expires_at`. An empty `to` is a decoy: a row of the
// same size, sealed at the same cost, that the runner removes without sending. A request for an
// address that nobody has thus costs the same as one that sends mail, and its answer's time does
// not tell who is an admin. So queue a decoy with the subject and the text that the real mail
// would have. Throws std::invalid_argument for an address that is too long or holds a control
// character.
void queue_mail(db::Tx& tx, const KeyRing& keys, const Mail& mail, Timestamp now,
                Timestamp expires_at);

// The runner's side: claims due mail one by one and hands it to the mail server, outside any
// transaction. Killed in between, the lease runs out and the mail is sent (perhaps again) by the
// next one: at least once, and nothing is lost. What the server refuses for good, what expires and
// what cannot be opened is removed, with a line in the log that holds the id and the reason.
class MailDispatch {
  public:
    explicit MailDispatch(Context& context);
    ~MailDispatch();
    MailDispatch(const MailDispatch&) = delete;
    MailDispatch& operator=(const MailDispatch&) = delete;

    // Works on a few due mails; how many. `is_over` is asked before each.
    int step(const std::function<bool()>& is_over);

  private:
    bool work_on(MailId id);
    void dispose(const store::QueuedMail& queued);
    void remove(MailId id);
    void give_up(MailId id, std::string_view event, std::string_view reason);
    void postpone(const store::QueuedMail& queued, std::string_view reason);

    Context& context_;
    std::unique_ptr<net::SmtpSender> sender_;
    Uuid owner_;
};

// How long after a failed attempt the next one comes; `attempts`: how many came before.
Milliseconds mail_back_off(int attempts);

// What the operator should know: "" unless mail waits for minutes.
std::string mail_problem(Context& context);

}  // namespace muster::service
