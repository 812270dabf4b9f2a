#include "process/rate_limiter.hpp"

#include "base/crypto.hpp"
#include "process/shared_memory.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <new>
#include <stdexcept>

// A bucket is one point in time (GCRA's "theoretical arrival time"): when it will be full again.
// Each accepted request moves it forward by the time in which its tokens grow. A request is
// accepted if one token more is at most one burst ahead of the moment when it runs. A time in the
// past means a full bucket, so its slot can be reused without losing anything.
//
// A slot is one word: 16 bits of the key's hash above 48 bits of the time (microseconds since the
// limiter was created, enough for nine years). One compare-exchange changes it. So a charge is
// never lost, a slot is never taken from a key that was charged in the meantime, and a worker that
// dies leaves no partial state.
//
// The other bits of the hash choose the slot. The limiter confuses two keys if their tags are equal
// and their probes overlap: one in 50,000 with 10,000 busy keys. The hash is SipHash with a random
// key, which all workers share. So a client cannot choose a key that collides with another one.

namespace muster::process {
namespace {

using Word = std::atomic<std::uint64_t>;
static_assert(Word::is_always_lock_free);

constexpr std::size_t kProbes = 8;
constexpr unsigned kMomentBits = 48;
constexpr std::uint64_t kMomentMask = (std::uint64_t{1} << kMomentBits) - 1;
constexpr std::uint64_t kSecond = 1'000'000;

constexpr std::int64_t kMostRate = 100'000;
constexpr std::int64_t kMostSeconds = 60;

std::uint64_t moment_of(std::uint64_t word) {
    return word & kMomentMask;
}
std::uint64_t tag_of(std::uint64_t word) {
    return word >> kMomentBits;
}

RateLimit in_range(const RateLimit& limit) {
    constexpr std::int64_t kLeast = 1;
    return {std::clamp(limit.per_second, kLeast, kMostRate),
            std::clamp(limit.burst, kLeast, kMostRate),
            std::clamp(limit.seconds, kLeast, kMostSeconds)};
}

int seconds_rounded_up(std::uint64_t microseconds) {
    return static_cast<int>((microseconds + kSecond - 1) / kSecond);
}

// Time in steps; a token is a whole number of steps. A token of a third of a second is not a whole
// number of microseconds, and the rounding errors would add up. A step is never shorter than a
// microsecond, so that converting it to microseconds and back loses nothing.
class Steps {
  public:
    explicit Steps(const RateLimit& limit)
        : span_(static_cast<std::uint64_t>(limit.seconds) * kSecond),
          tokens_(static_cast<std::uint64_t>(limit.per_second)),
          per_token_(span_ / tokens_) {}

    std::uint64_t per_token() const { return per_token_; }
    std::uint64_t at(std::uint64_t moment) const {
        return static_cast<std::uint64_t>(Wide{moment} * tokens_ * per_token_ / span_);
    }
    std::uint64_t moment(std::uint64_t steps) const {
        const Wide each = Wide{tokens_} * per_token_;
        return static_cast<std::uint64_t>((Wide{steps} * span_ + each - 1) / each);
    }

  private:
    __extension__ using Wide = unsigned __int128;
    std::uint64_t span_;
    std::uint64_t tokens_;
    std::uint64_t per_token_;
};

struct Charge {
    RateResult result;
    std::uint64_t moment;  // of the bucket after the charge
};

struct Wanted {
    std::uint64_t tokens;
    std::uint64_t longest_wait;  // microseconds
};

Charge charge(const RateLimit& limit, const Wanted& wanted, std::uint64_t moment,
              std::uint64_t now) {
    const Steps steps(limit);
    const std::uint64_t current = steps.at(now);
    const std::uint64_t room = static_cast<std::uint64_t>(limit.burst) * steps.per_token();
    const std::uint64_t begun = std::max(steps.at(moment), current);
    const std::uint64_t first = begun + steps.per_token();
    const std::uint64_t wait = first - current > room ? steps.moment(first - room) - now : 0;
    if (wait > wanted.longest_wait) {
        return {{.reset_seconds = seconds_rounded_up(moment - now),
                 .retry_after = seconds_rounded_up(wait),
                 .wait = std::chrono::microseconds(wait)},
                moment};
    }
    const std::uint64_t next = begun + wanted.tokens * steps.per_token();
    const std::uint64_t after = steps.moment(next);
    const std::uint64_t left = room - std::min(room, next - current);
    return {{.allowed = true,
             .remaining = static_cast<std::int64_t>(left / steps.per_token()),
             .reset_seconds = seconds_rounded_up(after - now),
             .wait = std::chrono::microseconds(wait)},
            after};
}

}  // namespace

struct RateLimiter::Slot {
    Word word;
};

struct RateLimiter::Place {
    std::size_t first;  // of the probes
    std::uint64_t tag;
};

struct RateLimiter::Found {
    std::size_t slot;
    std::uint64_t word;  // the current value
    std::uint64_t tag;   // the tag to write
    bool is_new;         // the slot was unused
};

RateLimiter::RateLimiter(std::size_t slots) : slots_(slots), start_(Clock::now()) {
    if (!std::has_single_bit(slots_)) throw std::invalid_argument("slots must be a power of two");
    std::string key(16, '\0');
    random_bytes(key.data(), key.size());
    hash_key_ = Secret(std::move(key));
    table_ = new (map_shared(slots_ * sizeof(Slot))) Slot[slots_]{};
}

RateLimiter::~RateLimiter() {
    unmap_shared(table_, slots_ * sizeof(Slot));
}

RateLimiter::Place RateLimiter::place_of(std::string_view bucket_key) const {
    const std::uint64_t hash = siphash(hash_key_.reveal(), bucket_key);
    return {static_cast<std::size_t>(hash) & (slots_ - 1), tag_of(hash)};
}

// Returns the key's own bucket. Otherwise the first unused slot. If all probes are used by other
// keys, the slot of the first probe, which the keys then share.
//
// Sharing is safe: to reject would lock out the latest client, and to accept would be no limit. A
// shared time only moves forward, and each request moves it by its own token's time, so that keys
// that share get less than their limits, never more. The shared slot must always be the same: a
// client that could choose among eight slots would have eight buckets. When a slot becomes unused,
// the key moves there with a full bucket: one extra burst, once.
RateLimiter::Found RateLimiter::find(const Place& place, std::uint64_t now) const {
    Found idle{slots_, 0, place.tag, true};
    Found shared{place.first, table_[place.first].word.load(), 0, false};
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
        const std::size_t slot = (place.first + probe) & (slots_ - 1);
        const std::uint64_t word = table_[slot].word.load();
        const bool is_busy = moment_of(word) > now;
        if (is_busy && tag_of(word) == place.tag) return {slot, word, place.tag, false};
        if (!is_busy && idle.slot == slots_) idle = {slot, word, place.tag, true};
    }
    if (idle.slot != slots_) return idle;
    shared.tag = tag_of(shared.word);
    return shared;
}

bool RateLimiter::is_held_elsewhere(const Place& place, std::size_t slot, std::uint64_t now) const {
    for (std::size_t probe = 0; probe < kProbes; ++probe) {
        const std::size_t other = (place.first + probe) & (slots_ - 1);
        const std::uint64_t word = table_[other].word.load();
        if (other != slot && tag_of(word) == place.tag && moment_of(word) > now) return true;
    }
    return false;
}

RateResult RateLimiter::take(std::string_view bucket_key, const RateLimit& limit,
                             Clock::time_point now) {
    return reserve(bucket_key, limit, 1, std::chrono::microseconds(0), now);
}

RateResult RateLimiter::reserve(std::string_view bucket_key, const RateLimit& limit,
                                std::int64_t count, std::chrono::microseconds longest_wait,
                                Clock::time_point now) {
    const Wanted wanted{
        static_cast<std::uint64_t>(std::clamp(count, std::int64_t{1}, kMostRate)),
        static_cast<std::uint64_t>(std::max(longest_wait, std::chrono::microseconds(0)).count())};
    const RateLimit effective = in_range(limit);
    const Place place = place_of(bucket_key);
    const auto since = std::chrono::duration_cast<std::chrono::microseconds>(now - start_).count();
    const auto moment = static_cast<std::uint64_t>(std::max<std::int64_t>(since, 0));
    for (;;) {
        const Found found = find(place, moment);
        const Charge charged = charge(effective, wanted, moment_of(found.word), moment);
        if (!charged.result.allowed) return charged.result;
        Word& word = table_[found.slot].word;
        std::uint64_t expected = found.word;
        std::uint64_t written = found.tag << kMomentBits | charged.moment;
        if (!word.compare_exchange_strong(expected, written)) continue;
        // Two workers may create a bucket for the same new key at the same time if an earlier slot
        // becomes unused. Both look again, so at least one of them sees the other bucket and frees
        // its own. If its own was charged in the meantime, both buckets remain until they are full.
        if (!found.is_new || !is_held_elsewhere(place, found.slot, moment) ||
            !word.compare_exchange_strong(written, 0)) {
            return charged.result;
        }
    }
}

namespace {

std::string quoted_policy(std::string_view policy) {
    return '"' + std::string(policy) + '"';
}

}  // namespace

std::string rate_policy_field(const RateLimit& limit, std::string_view policy) {
    const RateLimit effective = in_range(limit);
    const std::int64_t window =
        (effective.burst * effective.seconds + effective.per_second - 1) / effective.per_second;
    return quoted_policy(policy) + ";q=" + std::to_string(effective.burst) +
           ";w=" + std::to_string(window);
}

std::string rate_limit_field(const RateResult& result, std::string_view policy) {
    return quoted_policy(policy) + ";r=" + std::to_string(result.remaining) +
           ";t=" + std::to_string(result.reset_seconds);
}

}  // namespace muster::process
