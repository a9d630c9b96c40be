// SPDX-License-Identifier: MIT
//
// Holds the hooks and notifies of one receiver's object, of a random class, against what they are
// promised to be: once an update, in their order, with the value before it and the value of now.
#pragma once

#include "support/replication/block_receiver.h"
#include "support/types/random_types.h"
#include "support/types/value_tree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "support/checks/catch.h"

namespace replayout::test {

class UpdateJudge {
  public:
    UpdateJudge(RandomTypes& types, const RepLayout& layout) : types_(types) {
        add_type(layout.type(), 0);
    }

    /// To be called before anything may change the object.
    void begin(const RawObject& object, const BlockReceiver& receiver) {
        was_under_way_ = receiver.scratch.is_update_under_way();
        if (!was_under_way_) {
            events_.clear();
            before_ = read(object);
        }
        types_.set_hook_handler([this](const HookEvent& event) { note(event); });
        types_.set_notify_handler([this](const NotifyEvent& event) { note(event); });
    }
    /// And after it.
    void check(const RawObject& object, const BlockReceiver& receiver) {
        types_.set_hook_handler({});
        types_.set_notify_handler({});
        const bool is_under_way = receiver.scratch.is_update_under_way();
        const std::vector<std::vector<Event>> updates = split();
        // One that ended made room for another, of which perhaps nothing is heard yet.
        const bool is_last_open =
            is_under_way && (updates.empty() || updates.back().back().phase == Phase::Pre);
        for (std::size_t i = 0; i < updates.size(); ++i) {
            check_hooks(updates[i], i + 1 < updates.size() || !is_last_open);
        }
        if (is_under_way && !updates.empty() && (updates.size() > 1 || !is_last_open)) {
            REQUIRE(was_under_way_);
            events_ = is_last_open ? updates.back() : std::vector<Event>();
            before_.reset();  // what it was when that one began nobody saw
        } else if (updates.size() == 1 && !is_under_way) {
            check_notifies(updates.front(), read(object));
        }
        if (was_under_way_ && !is_under_way && updates.empty()) {
            check_hooks({}, true);
        }
    }

    [[nodiscard]] std::uint64_t notify_count() const noexcept { return notify_count_; }

  private:
    enum class Phase : std::uint8_t { Pre, Post, Notify, Last };

    struct Event {
        Phase phase;
        std::size_t order;  ///< of the type, or of the property
        Value previous;
        Value present;
    };
    struct Member {
        const Property* property;
        std::uint32_t offset;
    };
    using Values = std::vector<Value>;  // by member

    void add_type(const Type& type, std::uint32_t offset) {
        if (type.base() != nullptr) {
            add_type(*type.base(), offset + type.base_offset());
        }
        hierarchy_.push_back(&type);
        for (const Property& property : type.properties()) {
            members_.push_back({&property, offset + property.offset});
        }
    }

    [[nodiscard]] Values read(const RawObject& object) const {
        Values values;
        for (const Member& member : members_) {
            values.push_back(read_member(*member.property, object.memory() + member.offset));
        }
        return values;
    }

    void note(const HookEvent& event) {
        const auto type = std::find(hierarchy_.begin(), hierarchy_.end(), &event.declaring_type);
        REQUIRE(type != hierarchy_.end());
        constexpr Phase phases[] = {Phase::Pre, Phase::Post, Phase::Last};
        events_.push_back({phases[static_cast<std::size_t>(event.hook)],
                           static_cast<std::size_t>(type - hierarchy_.begin()),
                           {},
                           {}});
    }
    void note(const NotifyEvent& event) {
        ++notify_count_;
        const auto member = std::find_if(
            members_.begin(), members_.end(),
            [&](const Member& candidate) { return candidate.property == &event.property; });
        REQUIRE(member != members_.end());
        const Property& property = event.property;
        const auto* part = static_cast<const std::byte*>(event.object);
        Value previous = property.kind == PropertyKind::BitBool
                             ? Bits{*static_cast<const bool*>(event.previous) ? 1u : 0u}
                             : read_member(property, event.previous);
        events_.push_back({Phase::Notify, static_cast<std::size_t>(member - members_.begin()),
                           std::move(previous), read_member(property, part + property.offset)});
    }

    /// What ran, update by update: within one, phases and orders ascend.
    [[nodiscard]] std::vector<std::vector<Event>> split() const {
        std::vector<std::vector<Event>> updates;
        for (const Event& event : events_) {
            const Event* last = updates.empty() ? nullptr : &updates.back().back();
            const bool is_next = last != nullptr && std::pair(last->phase, last->order) <
                                                        std::pair(event.phase, event.order);
            if (!is_next) {
                updates.emplace_back();
            }
            updates.back().push_back(event);
        }
        return updates;
    }

    void check_hooks(const std::vector<Event>& update, bool is_whole) const {
        for (const auto& [phase, hook] :
             {std::pair(Phase::Pre, &ReceiveHooks::pre_net_receive),
              std::pair(Phase::Post, &ReceiveHooks::post_net_receive),
              std::pair(Phase::Last, &ReceiveHooks::post_rep_notifies)}) {
            std::vector<std::size_t> expected;
            for (std::size_t i = 0; i < hierarchy_.size(); ++i) {
                if (hierarchy_[i]->hooks().*hook && (is_whole || phase == Phase::Pre)) {
                    expected.push_back(i);
                }
            }
            std::vector<std::size_t> ran;
            for (const Event& event : update) {
                if (event.phase == phase) {
                    ran.push_back(event.order);
                }
            }
            REQUIRE(ran == expected);
        }
    }

    void check_notifies(const std::vector<Event>& update, const Values& now) const {
        std::vector<bool> is_told(members_.size());
        for (const Event& event : update) {
            const Property& property = *members_[event.order].property;
            if (event.phase != Phase::Notify) {
                continue;
            }
            is_told[event.order] = true;
            INFO(property.name);
            REQUIRE(event.present == now[event.order]);
            if (before_) {
                REQUIRE(event.previous == (*before_)[event.order]);
            }
            // What cannot be compared may have been changed and changed back.
            const bool is_comparable = property.ops.is_trivial || property.ops.equal != nullptr;
            REQUIRE((!is_comparable || !(event.previous == event.present)));
        }
        for (std::size_t i = 0; i < members_.size() && before_; ++i) {
            const Property& property = *members_[i].property;
            INFO(property.name);
            REQUIRE((!property.notify || is_told[i] || (*before_)[i] == now[i]));
        }
    }

    RandomTypes& types_;
    std::vector<const Type*> hierarchy_;  // base first
    std::vector<Member> members_;         // likewise
    std::vector<Event> events_;           // of the update under way, or the last one
    std::optional<Values> before_;        // that update; empty: not known
    bool was_under_way_ = false;
    std::uint64_t notify_count_ = 0;
};

}  // namespace replayout::test
