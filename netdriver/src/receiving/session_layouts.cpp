// SPDX-License-Identifier: MIT
#include "session_layouts.h"

#include <replayout/layout_description.h>
#include <replayout/reflection/printable.h>

#include <algorithm>
#include <string>
#include <utility>

namespace replayout {

namespace {

/// As much of a server's name as goes into a line.
[[nodiscard]] std::string shown_name(std::string_view name) {
    constexpr std::size_t name_bytes_max = 256;
    return printable_front(name, name_bytes_max);
}

}  // namespace

SessionLayouts::SessionLayouts(const LayoutTable& own, const NetConfig& config, PeerId server,
                               PeerLog& peer_log, const NetTime& now, MemoryResource* resource)
    : own_(own),
      config_(config),
      server_(server),
      peer_log_(peer_log),
      now_(now),
      resource_(resource),
      entries_(Allocator<Entry>(resource)),
      archetypes_(Allocator<ArchetypeEntry>(resource)),
      layouts_(Allocator<std::unique_ptr<RepLayout>>(resource)) {}

SessionLayouts::Entry SessionLayouts::find(std::uint64_t number) const noexcept {
    if (entries_.empty()) {
        const RepLayout* layout = own_.find(number);
        return {layout, layout};
    }
    return number < entries_.size() ? entries_[number] : Entry();
}

SessionLayouts::Entry SessionLayouts::find(std::uint64_t number,
                                           ArchetypeId archetype) const noexcept {
    const Entry of_class = find(number);
    const RepLayout* local = own_.find_archetype(archetype);
    if (archetype.value == 0 || of_class.local == nullptr) {
        return of_class;
    }
    if (local == nullptr || local->name() != of_class.local->name()) {
        return {of_class.reading, nullptr};
    }
    if (of_class.reading == of_class.local) {
        return {local, local};
    }
    const auto found =
        std::find_if(archetypes_.begin(), archetypes_.end(),
                     [&](const ArchetypeEntry& entry) { return entry.id == archetype; });
    REPLAYOUT_ASSERT(found != archetypes_.end());
    return {found->reading, local};
}

const RepLayout* SessionLayouts::find(std::string_view name) const noexcept {
    if (entries_.empty()) {
        return own_.find_by_name(name);
    }
    for (const Entry& entry : entries_) {
        if (entry.reading->name() == name) {
            return entry.reading;
        }
    }
    return nullptr;
}

CloseReason SessionLayouts::add(std::span<const std::byte> message, std::uint32_t& name_hash) {
    KnownLayout known;
    std::span<const std::byte> description;
    std::string_view name;
    if (read_known_layout(message, known)) {
        name = known.name;
    } else if (read_described_layout(message, description)) {
        name = described_name(description);
    } else {
        return CloseReason::NotAllowed;
    }
    description_bytes_ += message.size();
    if (entries_.size() >= config_.described_layouts_max ||
        description_bytes_ > config_.described_bytes_max) {
        return CloseReason::TooManyLayouts;
    }
    if (name.empty() || (!entries_.empty() && entries_.back().reading->name() >= name)) {
        return CloseReason::MalformedBunch;
    }
    name_hash = static_cast<std::uint32_t>(hash64(name));
    return description.empty() ? add_known(known) : add_described(description);
}

CloseReason SessionLayouts::add_known(const KnownLayout& known) {
    const RepLayout* local = own_.find_by_name(known.name);
    if (local == nullptr || local->fingerprint() != known.fingerprint) {
        return refuse("layout of \"" + shown_name(known.name) +
                      "\": the server takes it to be ours, and it is not");
    }
    entries_.push_back({local, local});
    return CloseReason::None;
}

CloseReason SessionLayouts::add_described(std::span<const std::byte> description) {
    const RepLayout* local = own_.find_by_name(described_name(description));
    if (local != nullptr) {
        const Vector<std::byte> ours = describe_layout(*local, resource_);
        if (std::equal(ours.begin(), ours.end(), description.begin(), description.end())) {
            entries_.push_back({local, local});
            return CloseReason::None;
        }
    }
    CloseReason reason = CloseReason::None;
    const RepLayout* reading = make_reading(description, local, reason);
    if (reading == nullptr) {
        return reason;
    }
    const auto diagnostics = reading->diagnostics();
    if (!diagnostics.empty()) {
        peer_log_.write_printable(
            LogLevel::Warning, server_,
            "the server's layout of \"" + shown_name(reading->name()) +
                "\" is not ours; the first difference: " + diagnostics.front(),
            now_);
    }
    entries_.push_back({reading, local});
    for (const LayoutTable::Archetype& archetype : own_.archetypes()) {
        if (local != nullptr && archetype.layout->name() == local->name()) {
            const RepLayout* of_archetype = make_reading(description, archetype.layout, reason);
            if (of_archetype == nullptr) {
                return reason;
            }
            archetypes_.push_back({archetype.id, of_archetype});
        }
    }
    return CloseReason::None;
}

const RepLayout* SessionLayouts::make_reading(std::span<const std::byte> description,
                                              const RepLayout* local, CloseReason& reason) {
    // Structs with a NetSerializer are the class's own, or those of the game.
    const TypeRegistry none;
    const RepLayout* any = local != nullptr ? local : own_.find(0);
    const TypeRegistry& registry = any != nullptr ? any->registry() : none;
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create_compatible(
        registry, local, description, LayoutPolicy::SkipUnknown, resource_);
    if (!layout) {
        const CloseReason mismatch = refuse(layout.error().message);
        reason = layout.error().code == ErrorCode::IncompatibleLayout ? mismatch
                                                                      : CloseReason::MalformedBunch;
        return nullptr;
    }
    if (const Status status = check_array_growth(**layout, config_); !status) {
        reason = refuse(printable_front(status.error().message, PeerLog::text_bytes_max));
        return nullptr;
    }
    layouts_.push_back(*std::move(layout));
    return layouts_.back().get();
}

CloseReason SessionLayouts::refuse(const std::string& message) const {
    peer_log_.write_printable(LogLevel::Error, server_,
                              "the server's layouts cannot be read: " + message, now_);
    return CloseReason::LayoutMismatch;
}

}  // namespace replayout
