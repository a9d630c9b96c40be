// SPDX-License-Identifier: MIT
#include "layout_handshake.h"

#include <replayout/bit_writer.h>
#include <replayout/layout_description.h>

#include "packet_builder.h"

#include <array>
#include <utility>

namespace replayout {

LayoutHandshake::LayoutHandshake(const NetDriverSettings& settings, const LayoutTable& ours,
                                 SessionLayouts& theirs, NetConnection& connection)
    : config_(settings.config),
      policy_(settings.layout_policy),
      ours_(ours),
      theirs_(theirs),
      connection_(connection),
      resource_(settings.resource) {}

void LayoutHandshake::send_hello() {
    // One bunch in one packet, so that a server can judge it before it keeps anything.
    std::array<std::byte, PacketBuilder::packet_bytes_limit> ids;
    std::array<std::byte, PacketBuilder::packet_bytes_limit> message;
    const std::size_t room_bytes = fragment_bytes(config_.packet_bytes_max) - hello_bytes;
    const std::size_t id_bytes = ours_.write_ids(std::span(ids).first(room_bytes));
    BitWriter writer(message);
    write_hello(writer, {wire_version, ours_.digest(), ours_.count(),
                         std::span(ids).first(id_bytes), policy_ == LayoutPolicy::SkipUnknown});
    connection_.send_control(writer.bytes());
}

CloseReason LayoutHandshake::receive_layout(std::span<const std::byte> message, bool has_channels) {
    // Channels that are open already were opened by numbers which would now mean something else.
    if (policy_ != LayoutPolicy::SkipUnknown || has_channels) {
        return CloseReason::NotAllowed;
    }
    std::uint32_t name_hash = 0;
    const CloseReason reason = theirs_.add(message, name_hash);
    connection_.blame_layout(name_hash);
    if (reason == CloseReason::LayoutMismatch) {
        find_described(message);
    }
    return reason;
}

CloseReason LayoutHandshake::receive_refusal(const RefusedLayout& refused) {
    connection_.blame_layout(refused.name_hash);
    const RepLayout* const ours = ours_.find_by_hash(refused.name_hash);
    const bool is_theirs = !refused.explanation.empty();
    if (ours != nullptr && is_theirs) {
        Result<LayoutDifference> found = find_layout_difference(*ours, refused.explanation);
        if (!found) {
            return CloseReason::MalformedBunch;
        }
        tell_difference({std::string(ours->name()), *std::move(found)});
    } else if (ours != nullptr) {
        tell_difference({std::string(ours->name()), {LayoutAspect::Class, {}, "present", {}}});
    } else if (is_theirs) {
        const Result<std::string_view> name = explained_name(refused.explanation);
        if (!name) {
            return CloseReason::MalformedBunch;
        }
        tell_difference({std::string(*name), {LayoutAspect::Class, {}, {}, "present"}});
    }
    return CloseReason::LayoutMismatch;
}

void LayoutHandshake::find_described(std::span<const std::byte> message) {
    std::span<const std::byte> description;
    if (!read_described_layout(message, description)) {
        return;
    }
    const std::string name(described_name(description));
    const RepLayout* const ours = ours_.find_by_name(name);
    if (ours == nullptr) {
        tell_difference({name, {LayoutAspect::Class, {}, {}, "present"}});
        return;
    }
    // Where only a limit of this driver is in the way, the line of the log that names it is there.
    Result<LayoutDifference> found = find_described_difference(*ours, description);
    if (found && found->aspect != LayoutAspect::Other) {
        tell_difference({name, *std::move(found)});
    }
}

void LayoutHandshake::tell_difference(ClassDifference difference) {
    difference_ = std::move(difference);
    difference_sentence_ = to_sentence(difference_.difference);
    CloseDetails details;
    details.layout_class = difference_.class_name;
    details.layout_difference = difference_sentence_;
    connection_.blame(details);
    connection_.set_last_words(layout_difference_message(
        difference_, fragment_bytes(config_.packet_bytes_max), resource_));
}

}  // namespace replayout
