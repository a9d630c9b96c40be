// SPDX-License-Identifier: MIT
#include "mark_validator.h"

#include <replayout/dump.h>

#include <algorithm>
#include <string>

namespace replayout {

namespace {

/// For a copy of values that nobody is sent: a look must give no ids.
class NoIds final : public PackageMap {
  public:
    [[nodiscard]] NetGUID guid_of(ObjectHandle) override { return {}; }
    [[nodiscard]] ObjectHandle object_of(NetGUID) override { return {}; }
};

[[nodiscard]] bool is_fast_array(const RepLayoutCmd& cmd) noexcept {
    return cmd.type == RepLayoutCmdType::KeyedArray && cmd.property->array_key.fast.has_marks();
}

[[nodiscard]] bool has_fast_array(const RepLayout& layout, const RepParentCmd& parent) noexcept {
    for (CmdIndex i = parent.cmd_start; i < parent.cmd_end; i = layout.cmd(i).end_cmd) {
        if (is_fast_array(layout.cmd(i))) {
            return true;
        }
    }
    return false;
}

/// Whether objects of the layout have anything that is to be marked.
[[nodiscard]] bool has_marks(const RepLayout& layout) noexcept {
    const std::span<const RepParentCmd> parents = layout.parents();
    return layout.has_push_based() ||
           std::any_of(parents.begin(), parents.end(),
                       [&](const RepParentCmd& parent) { return has_fast_array(layout, parent); });
}

/// The first value of the property that people can tell from what was compared last; else nothing.
[[nodiscard]] std::string change_text(const ChangelistState& state, const RepParentCmd& parent,
                                      const void* object, MemoryResource* resource) {
    const RepLayout& layout = state.layout();
    ChangelistState present(layout, resource);
    NoIds ids;
    ReplicationCounters ignored;
    (void)present.update(object, ids, ignored);
    for (std::uint32_t i = 0; i < parent.handle_count; ++i) {
        const RepHandle handle{parent.first_handle + i};
        const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), handle));
        if (has_flag(cmd.flags, RepLayoutCmdFlags::HasObjectReferences)) {
            continue;  // the copy has no ids
        }
        const std::string before = value_text(layout, handle, state.shadow());
        const std::string after = value_text(layout, handle, present.shadow());
        if (before != after) {
            return ": " + property_path(layout, handle) + " was " + before + " and is " + after;
        }
    }
    return "";
}

[[nodiscard]] std::string_view what_was_forgotten(const RepLayout& layout,
                                                  const RepParentCmd& parent) noexcept {
    if (!has_fast_array(layout, parent)) {
        return "was not marked dirty";
    }
    return parent.is_push_based ? "it or an item of it was not marked dirty"
                                : "the array or an item of it was not marked dirty";
}

}  // namespace

MarkValidator::MarkValidator(std::uint32_t ticks, MemoryResource* resource)
    : ticks_(ticks), missed_(resource), reported_(Allocator<Reported>(resource)) {}

void MarkValidator::validate(const ObjectStore& objects, const BitRow& live, const BitRow& dormant,
                             NetWorld& world, ReplicationCounters& counters) {
    if (ticks_ == 0) {
        return;
    }
    // In 64 bits, because any number of ticks is allowed.
    for (std::uint64_t slot = first_; slot < objects.slot_count(); slot += ticks_) {
        const ObjectIndex index{static_cast<std::uint32_t>(slot)};
        if (!live.test(index) || dormant.test(index)) {
            continue;
        }
        const ServerObject& info = *objects.at(index);
        const ChangelistState& state = info.changelist_state();
        if (has_marks(state.layout())) {
            const void* const object = world.object_memory(info.object());
            if (object == nullptr) {
                continue;  // its compare said so
            }
            state.find_missed_marks(object, missed_);
            report(info, object, world, counters);
        }
    }
    first_ = (first_ + 1) % ticks_;
}

void MarkValidator::report(const ServerObject& info, const void* object, NetWorld& world,
                           ReplicationCounters& counters) {
    const ChangelistState& state = info.changelist_state();
    const RepLayout& layout = state.layout();
    for (std::uint32_t i = missed_.next(0); i < missed_.bit_count(); i = missed_.next(i + 1)) {
        if (world.holds_back(info.object(), ParentIndex{static_cast<std::uint16_t>(i)})) {
            continue;
        }
        ++counters.marks_missed;
        const RepParentCmd& parent = layout.parents()[i];
        if (!is_news({&layout, parent.property, info.guid()})) {
            continue;
        }
        MemoryResource* const resource = reported_.get_stored_allocator().resource();
        log(LogLevel::Error, "forgotten mark: property \"" + parent.property->name + "\" of a \"" +
                                 std::string(layout.type().name()) + "\" (network id " +
                                 std::to_string(info.guid().value) + ") changed, and " +
                                 std::string(what_was_forgotten(layout, parent)) +
                                 ", so it is not sent" +
                                 change_text(state, parent, object, resource));
    }
}

bool MarkValidator::is_news(const Reported& found) {
    std::size_t line_count = 0;
    for (const Reported& reported : reported_) {
        if (reported == found) {
            return false;
        }
        const bool is_same = reported.layout == found.layout && reported.property == found.property;
        line_count += is_same ? 1u : 0u;
    }
    if (line_count == lines_per_property_max) {
        return false;
    }
    reported_.push_back(found);
    return true;
}

}  // namespace replayout
