// SPDX-License-Identifier: MIT
//
// Judges calls by the numbers that they carry. Reliable ones run in order, once, without a gap
// while their object is shown, and all of them in the end (I6); unreliable ones run once at most
// (I7); none runs of an object that is not there (I8).
#pragma once

#include "simulation/fleet/craft.h"
#include "simulation/judges/verdict.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace replayout::test {

/// What the server called, and was called.
class CallBook {
  public:
    explicit CallBook(Verdict& verdict) : verdict_(verdict) {}

    /// A call to all who are shown the craft, or to its owner at `owner`.
    void multicast(CraftFunction function, std::uint32_t craft, std::uint32_t number);
    /// The craft was not relevant for this player when the call was made, so it is not sent there.
    void not_for(PeerId player, std::uint32_t craft, std::uint32_t number);
    /// The craft was relevant for this player and is not any longer. If its close at that client
    /// waits for calls, what is called later is for the craft's next life there.
    void hidden_from(PeerId player, std::uint32_t craft);
    /// It was refused.
    void take_back(CraftFunction function, std::uint32_t craft, std::uint32_t number);
    /// The game removed the craft.
    void gone(std::uint32_t craft) { gone_at_[craft] = verdict_.tick(); }
    /// The craft went at a client before so many of its calls. Whether the close had waited as long
    /// as it may, and the server counted as many dropped calls as all clients lacked so far.
    [[nodiscard]] bool may_lack(std::uint32_t craft, std::size_t count);
    /// The craft went at a client before its next life there began, for which so many calls were
    /// made. Whether the server counted them as dropped.
    [[nodiscard]] bool may_lack_next_life(std::size_t count);
    void told_owner(PeerId owner, std::uint32_t craft, std::uint32_t number);
    /// A client's call runs here; `connection` is never used again.
    void ran(std::uint32_t connection, CraftFunction function, std::uint32_t craft,
             std::uint32_t number);

    /// The greatest number of a multicast so far: they are numbered in the order in which they are
    /// made, over all crafts.
    [[nodiscard]] std::uint32_t last_number() const noexcept { return last_number_; }
    [[nodiscard]] const std::vector<std::uint32_t>& signals(std::uint32_t craft) const;
    /// How many signals of the craft had been made when it was hidden from this player for the
    /// first time since that tick. Nothing: it was not hidden.
    [[nodiscard]] std::optional<std::size_t> signals_before_hide(PeerId player, std::uint32_t craft,
                                                                 std::uint32_t since_tick) const;
    [[nodiscard]] bool was_not_for(PeerId player, std::uint32_t craft, std::uint32_t number) const {
        return not_for_.contains({player, {craft, number}});
    }
    [[nodiscard]] bool was_flashed(std::uint32_t craft, std::uint32_t number) const {
        return flashes_.contains({craft, number});
    }
    [[nodiscard]] bool was_ordered(PeerId owner, std::uint32_t craft, std::uint32_t number) const {
        return orders_.contains({owner, {craft, number}});
    }

    // NetConfig::close_waits_for_calls_ms, and NetStats::calls_dropped of the server.
    std::uint32_t close_wait_ticks = 0;
    std::function<std::uint64_t()> dropped;

  private:
    using Call = std::pair<std::uint32_t, std::uint32_t>;  // craft, number
    struct Hide {
        std::uint32_t tick = 0;
        std::size_t signal_count = 0;  ///< made until then
    };

    Verdict& verdict_;
    std::uint32_t last_number_ = 0;
    std::map<std::uint32_t, std::vector<std::uint32_t>> signals_;
    std::map<std::uint32_t, std::uint32_t> gone_at_;  // ticks, by craft
    std::uint64_t lacked_ = 0;                        // of all crafts, at all clients
    std::set<std::pair<PeerId, Call>> not_for_;
    std::map<std::pair<PeerId, std::uint32_t>, std::vector<Hide>> hides_;  // by player, craft
    std::set<Call> flashes_;
    std::set<std::pair<PeerId, Call>> orders_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> steered_;  // the last
    std::set<std::pair<std::uint32_t, Call>> pinged_;
};

/// Of one connection.
class CallJudge {
  public:
    CallJudge(CallBook& book, Verdict& verdict, PeerId address)
        : book_(book), verdict_(verdict), addresses_{address} {}

    /// He speaks from there now; what was said to the last address may still arrive.
    void add_address(PeerId address) { addresses_.insert(address); }

    /// The initial batch is over. A call that was made before may have passed the client over, if
    /// the craft is shown to it later (docs/integration.md).
    void joined() { joined_number_ = book_.last_number(); }
    /// `is_joining`: joined() was not called yet.
    void shown(ObjectHandle handle, std::uint32_t craft, bool is_joining = false);
    void hidden(ObjectHandle handle);
    void ran(const Craft& craft, CraftFunction function, std::uint32_t number);
    /// The craft was destroyed: what was accepted of its reliable calls ran before, or its close
    /// had waited as long as it may, and they were counted as dropped (I21). Calls for its next
    /// life at this client, which had not begun, need only be counted.
    void closed(ObjectHandle handle);
    /// Signals of a shown craft that ran, and those that were made before it was shown.
    [[nodiscard]] std::size_t signals_ran(ObjectHandle handle) const;
    /// When all is healed: nothing is missing.
    void check_all_ran();

    [[nodiscard]] std::uint64_t calls_judged() const noexcept { return calls_judged_; }

  private:
    struct Life {
        std::uint32_t craft = 0;
        std::size_t signals_before = 0;   ///< were called before it was shown
        std::size_t signals_certain = 0;  ///< those before that may have passed the client over
        std::size_t next_signal = 0;      ///< behind the last that ran
        bool has_signal = false;
        std::uint32_t last_order = 0;
        std::set<std::uint32_t> flashes;
    };

    void signalled(Life& life, std::uint32_t number);
    /// How many of the signals from `first` to before `end` were for this client.
    [[nodiscard]] std::size_t signals_for_it(const Life& life, std::size_t first,
                                             std::size_t end) const;
    [[nodiscard]] std::size_t signals_missing(const Life& life) const;
    /// How many signals were made before those that may be for the next life of the craft.
    [[nodiscard]] std::size_t signals_of_life(const Life& life) const;

    CallBook& book_;
    Verdict& verdict_;
    std::set<PeerId> addresses_;
    std::uint32_t joined_number_ = 0;  // of the last call when joined() was called
    std::map<ObjectHandle, Life> lives_;
    std::map<std::uint32_t, std::uint32_t> last_ends_;  // ticks of the ends of lives, by craft
    std::uint64_t calls_judged_ = 0;
};

}  // namespace replayout::test
