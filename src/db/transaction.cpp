#include "db/transaction.hpp"

#include "base/log.hpp"

#include <random>
#include <thread>

namespace muster::db {
namespace {

// A connection that was idle longer than this is pinged before use.
constexpr Milliseconds kPingAfterIdle{5'000};

void pause_before(int attempt) {
    thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_int_distribution<int> jitter(1, 10 << attempt);
    std::this_thread::sleep_for(Milliseconds(jitter(random)));
}

}  // namespace

bool Tx::attempt(const std::function<void()>& step) {
    connection_.run("SAVEPOINT attempt");
    const std::size_t steps = after_commit_.size();
    try {
        step();
        return true;
    } catch (const DbError& error) {
        if (error.kind() != DbError::Kind::BadData) throw;
        connection_.run("ROLLBACK TO SAVEPOINT attempt");
        after_commit_.resize(steps);
        return false;
    }
}

bool Tx::attempt_or_undo(const std::function<bool()>& step) {
    connection_.run("SAVEPOINT attempt_or_undo");
    const std::size_t steps = after_commit_.size();
    if (step()) return true;
    connection_.run("ROLLBACK TO SAVEPOINT attempt_or_undo");
    after_commit_.resize(steps);
    return false;
}

Connection& Database::connection() {
    const SteadyTime now = steady_now();
    if (connection_ && now - last_used_ > kPingAfterIdle && !connection_->is_alive())
        connection_.reset();
    if (!connection_) connection_ = std::make_unique<Connection>(settings_);
    last_used_ = now;
    return *connection_;
}

void Database::roll_back(DbError::Kind kind) noexcept {
    if (!connection_ || connection_->rollback()) return;
    // prepare_rerun() drops a lost connection; it distinguishes it from one that never was.
    if (kind != DbError::Kind::Gone) connection_.reset();
}

bool Database::may_wait_again(const Attempts& so_far) const {
    if (so_far.on_lock_timeout == OnLockTimeout::Throw) return false;
    if (!settings_.longest_lock_wait) return true;
    const auto took = std::chrono::steady_clock::now() - so_far.since;
    return took + std::chrono::seconds(settings_.lock_timeout_seconds) <=
           *settings_.longest_lock_wait;
}

bool Database::prepare_rerun(const DbError& error, Attempts& so_far, bool commit_sent) {
    using Kind = DbError::Kind;
    if (error.kind() == Kind::Gone) {
        const bool had_connection = connection_ != nullptr;
        connection_.reset();
        // Connecting would fail again. A lost COMMIT may have been applied.
        if (commit_sent || !had_connection || ++so_far.lost_connections > 1) return false;
    } else if (error.kind() == Kind::LockTimeout) {
        if (!may_wait_again(so_far)) return false;
    } else if (error.kind() != Kind::Deadlock) {
        return false;
    }
    if (so_far.begun >= kAttempts) return false;
    statistics().reruns += 1;
    log_event(LogLevel::Info, "db.rerun", {{"attempt", so_far.begun}, {"reason", error.what()}});
    pause_before(so_far.begun);
    return true;
}

}  // namespace muster::db
