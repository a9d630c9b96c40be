// SPDX-License-Identifier: MIT
#include "simulation/judges/call_judge.h"

#include <algorithm>

namespace replayout::test {

namespace {

[[nodiscard]] std::string call_text(const char* what, std::uint32_t craft, std::uint32_t number) {
    return std::string(what) + ": craft " + std::to_string(craft) + ", call " +
           std::to_string(number);
}

}  // namespace

void CallBook::multicast(CraftFunction function, std::uint32_t craft, std::uint32_t number) {
    last_number_ = std::max(last_number_, number);
    if (function == CraftFunction::Signal) {
        signals_[craft].push_back(number);
    } else {
        flashes_.insert({craft, number});
    }
}

void CallBook::not_for(PeerId player, std::uint32_t craft, std::uint32_t number) {
    not_for_.insert({player, {craft, number}});
}

void CallBook::hidden_from(PeerId player, std::uint32_t craft) {
    hides_[{player, craft}].push_back({verdict_.tick(), signals(craft).size()});
}

std::optional<std::size_t> CallBook::signals_before_hide(PeerId player, std::uint32_t craft,
                                                         std::uint32_t since_tick) const {
    const auto found = hides_.find({player, craft});
    if (found == hides_.end()) {
        return std::nullopt;
    }
    const auto hide = std::find_if(found->second.begin(), found->second.end(),
                                   [&](const Hide& entry) { return entry.tick >= since_tick; });
    return hide == found->second.end() ? std::nullopt : std::optional(hide->signal_count);
}

void CallBook::take_back(CraftFunction function, std::uint32_t craft, std::uint32_t number) {
    if (function == CraftFunction::Signal) {
        std::erase(signals_[craft], number);
    } else {
        flashes_.erase({craft, number});
    }
}

void CallBook::told_owner(PeerId owner, std::uint32_t craft, std::uint32_t number) {
    orders_.insert({owner, {craft, number}});
}

void CallBook::ran(std::uint32_t connection, CraftFunction function, std::uint32_t craft,
                   std::uint32_t number) {
    if (function == CraftFunction::Ping) {
        verdict_.require(
            Invariant::UnreliableCalls, pinged_.insert({connection, {craft, number}}).second,
            [&] { return call_text("an unreliable call of a client runs twice", craft, number); });
        return;
    }
    std::uint32_t& last = steered_[{connection, craft}];
    verdict_.require(Invariant::ReliableCalls, number > last, [&] {
        return call_text("a reliable call of a client runs twice, or out of order", craft, number);
    });
    last = number;
}

const std::vector<std::uint32_t>& CallBook::signals(std::uint32_t craft) const {
    static const std::vector<std::uint32_t> none;
    const auto found = signals_.find(craft);
    return found == signals_.end() ? none : found->second;
}

bool CallBook::may_lack(std::uint32_t craft, std::size_t count) {
    lacked_ += count;
    const auto gone = gone_at_.find(craft);
    return gone != gone_at_.end() && verdict_.tick() - gone->second >= close_wait_ticks &&
           dropped && dropped() >= lacked_;
}

bool CallBook::may_lack_next_life(std::size_t count) {
    lacked_ += count;
    return dropped && dropped() >= lacked_;
}

void CallJudge::shown(ObjectHandle handle, std::uint32_t craft, bool is_joining) {
    Life life;
    life.craft = craft;
    const std::vector<std::uint32_t>& signals = book_.signals(craft);
    life.signals_before = signals.size();
    life.signals_certain =
        is_joining ? life.signals_before
                   : static_cast<std::size_t>(
                         std::upper_bound(signals.begin(), signals.end(), joined_number_) -
                         signals.begin());
    lives_[handle] = life;
}

void CallJudge::hidden(ObjectHandle handle) {
    const auto found = lives_.find(handle);
    if (found != lives_.end()) {
        last_ends_[found->second.craft] = verdict_.tick();
        lives_.erase(found);
    }
}

void CallJudge::ran(const Craft& craft, CraftFunction function, std::uint32_t number) {
    ++calls_judged_;
    const auto found = lives_.find(craft.handle);
    if (found == lives_.end()) {
        verdict_.fail(Invariant::PresentCrafts,
                      call_text("a call of a craft that is not shown", 0, number));
        return;
    }
    Life& life = found->second;
    switch (function) {
        case CraftFunction::Signal:
            signalled(life, number);
            break;
        case CraftFunction::Flash:
            verdict_.require(
                Invariant::UnreliableCalls, book_.was_flashed(life.craft, number),
                [&] { return call_text("a call that nobody made", life.craft, number); });
            verdict_.require(Invariant::UnreliableCalls, life.flashes.insert(number).second, [&] {
                return call_text("an unreliable call runs twice", life.craft, number);
            });
            break;
        case CraftFunction::Order:
            verdict_.require(
                Invariant::ReliableCalls,
                std::any_of(
                    addresses_.begin(), addresses_.end(),
                    [&](PeerId address) { return book_.was_ordered(address, life.craft, number); }),
                [&] {
                    return call_text("an order that is not for this client", life.craft, number);
                });
            verdict_.require(Invariant::ReliableCalls, number > life.last_order, [&] {
                return call_text("an order runs twice, or out of order", life.craft, number);
            });
            life.last_order = number;
            break;
        default:
            verdict_.fail(Invariant::ReliableCalls,
                          call_text("a call of the server's runs here", life.craft, number));
            break;
    }
}

void CallJudge::signalled(Life& life, std::uint32_t number) {
    const std::vector<std::uint32_t>& signals = book_.signals(life.craft);
    const auto found = std::lower_bound(signals.begin(), signals.end(), number);
    if (found == signals.end() || *found != number) {
        verdict_.fail(Invariant::ReliableCalls,
                      call_text("a call that nobody made", life.craft, number));
        return;
    }
    const auto index = static_cast<std::size_t>(found - signals.begin());
    verdict_.require(Invariant::ReliableCalls, index >= life.next_signal, [&] {
        return call_text("a reliable call runs twice, or out of order", life.craft, number);
    });
    const std::size_t expected = life.has_signal ? life.next_signal : life.signals_before;
    const bool is_next = index <= expected || signals_for_it(life, expected, index) == 0;
    verdict_.require(Invariant::ReliableCalls, is_next, [&] {
        return call_text("a reliable call was left out before", life.craft, number);
    });
    life.has_signal = true;
    life.next_signal = index + 1;
}

std::size_t CallJudge::signals_for_it(const Life& life, std::size_t first, std::size_t end) const {
    const std::vector<std::uint32_t>& signals = book_.signals(life.craft);
    std::size_t count = 0;
    for (std::size_t i = std::max(first, life.signals_certain); i < end; ++i) {
        const bool was_for_others = std::any_of(
            addresses_.begin(), addresses_.end(),
            [&](PeerId address) { return book_.was_not_for(address, life.craft, signals[i]); });
        count += was_for_others ? 0u : 1u;
    }
    return count;
}

std::size_t CallJudge::signals_missing(const Life& life) const {
    const std::size_t ran = life.has_signal ? life.next_signal : life.signals_before;
    return signals_for_it(life, ran, book_.signals(life.craft).size());
}

std::size_t CallJudge::signals_of_life(const Life& life) const {
    const auto last_end = last_ends_.find(life.craft);
    const std::uint32_t since_tick = last_end == last_ends_.end() ? 0 : last_end->second;
    std::size_t count = book_.signals(life.craft).size();
    for (const PeerId address : addresses_) {
        const auto before_hide = book_.signals_before_hide(address, life.craft, since_tick);
        count = std::min(count, before_hide.value_or(count));
    }
    return count;
}

void CallJudge::closed(ObjectHandle handle) {
    const auto found = lives_.find(handle);
    if (found == lives_.end()) {
        return;
    }
    const Life& life = found->second;
    const std::size_t missing = signals_missing(life);
    const std::size_t ran = life.has_signal ? life.next_signal : life.signals_before;
    const std::size_t missing_of_life = signals_for_it(life, ran, signals_of_life(life));
    const std::size_t missing_of_next = missing - missing_of_life;
    const bool holds = (missing_of_life == 0 || book_.may_lack(life.craft, missing_of_life)) &&
                       (missing_of_next == 0 || book_.may_lack_next_life(missing_of_next));
    verdict_.require(Invariant::CallsBeforeClose, holds, [&] {
        return "a craft went before its reliable calls ran: craft " + std::to_string(life.craft) +
               ", " + std::to_string(missing) + " of " +
               std::to_string(book_.signals(life.craft).size());
    });
}

std::size_t CallJudge::signals_ran(ObjectHandle handle) const {
    const auto found = lives_.find(handle);
    return found == lives_.end() ? 0
                                 : (found->second.has_signal ? found->second.next_signal
                                                             : found->second.signals_before);
}

void CallJudge::check_all_ran() {
    for (const auto& entry : lives_) {
        const Life& life = entry.second;
        const std::size_t count = book_.signals(life.craft).size();
        const std::size_t missing = signals_missing(life);
        verdict_.require(
            Invariant::ReliableCalls, missing == 0 || count <= life.signals_before, [&] {
                return "a reliable call never ran: craft " + std::to_string(life.craft) + ", " +
                       std::to_string(missing) + " of " + std::to_string(count);
            });
    }
}

}  // namespace replayout::test
