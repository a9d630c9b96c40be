// SPDX-License-Identifier: MIT
//
// Bytes of blocks as they are laid down, one behind the other: those of the run, or those of a
// lane, which are not yet cut into bundles, as a cut depends on all blocks before it.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/netdriver/bunch.h>
#include <replayout/reflection/memory.h>
#include <replayout/send_properties.h>

#include "bundle_run.h"
#include "kept_room.h"
#include "packet_builder.h"

#include <cstddef>
#include <cstdint>

namespace replayout {

/// What all objects of a layout have in common.
struct LayoutFacts {
    const RepLayout* layout = nullptr;
    bool may_be_regular = false;
    bool is_simple = false;  ///< of few handles, and without conditions
    bool needs_held_version = false;
};

class BlockBytes {
  public:
    /// `room_bytes`: of an empty packet, for blocks.
    BlockBytes(std::size_t room_bytes, MemoryResource* resource)
        : room_bytes_(room_bytes), bytes_(resource) {}

    /// What is laid down from now on is cut into bundles of `run`, unless that is null.
    void begin(BundleRun* run) noexcept {
        run_ = run;
        byte_count_ = 0;
        begin_packet();
    }
    /// Behind begin(), see KeptRoom.
    void trim() { bytes_.drop_and_trim(); }
    /// Blocks that the run has since the last one are a bundle; the next one goes on in the same
    /// packet. Requires a run.
    void end_bundle() {
        run_->end_bundle(bundle_begin_, byte_count_);
        bundle_begin_ = byte_count_;
    }
    /// Bytes that are laid down, with room for headers.
    [[nodiscard]] std::size_t byte_count() const noexcept { return byte_count_; }
    [[nodiscard]] std::byte* data() noexcept { return bytes_.data(); }
    [[nodiscard]] const std::byte* data() const noexcept { return bytes_.data(); }
    [[nodiscard]] ChannelIndex last_channel() const noexcept { return last_channel_; }

    /// What an empty packet has room for.
    [[nodiscard]] std::size_t room_bytes() const noexcept { return room_bytes_; }
    /// What the body of a block may have at most.
    [[nodiscard]] std::size_t body_bytes_max(ChannelIndex channel) const noexcept {
        return PacketBuilder::block_bytes_max(room_bytes_, channel);
    }
    /// Ends the packet at hand, if it has no room for such a block behind its last one.
    void make_room(ChannelIndex channel, std::size_t body_bytes) {
        const std::size_t head_bytes = block_step_bytes(last_channel_, channel);
        if (run_ != nullptr &&
            byte_count_ - packet_begin_ + head_bytes + body_bytes > room_bytes_) {
            end_bundle();
            run_->end_packet();
            begin_packet();
        }
    }

    /// There is memory for a packet more, and for what is written beyond it.
    void reserve_packet() {
        reserve(byte_count_ + packet_header_bytes_max + room_bytes_ + block_step_bytes_max +
                PlainBlock::spare_bytes);
    }
    void reserve(std::size_t byte_count) { bytes_.grow_to(byte_count); }
    /// Where the body of the next block goes, where none is cut.
    [[nodiscard]] std::size_t next_body(ChannelIndex channel) const noexcept {
        return byte_count_ + block_step_bytes(last_channel_, channel);
    }
    /// A block whose body is as long: cuts, writes its head, and returns where the body goes. Null,
    /// and nothing done: it is longer than a packet.
    [[nodiscard]] std::byte* add_block(BundleBlock& block, ChannelIndex channel,
                                       std::size_t body_bytes) {
        // Mostly it is so short that nobody needs to know how long the head would be.
        if (body_bytes + block_step_bytes_max > room_bytes_ &&
            body_bytes > body_bytes_max(channel)) {
            return nullptr;
        }
        make_room(channel, body_bytes);
        reserve_packet();
        begin_block(block, channel);
        end_block(block, channel, body_bytes);
        return data() + byte_count_ - body_bytes;
    }
    /// Where blocks with bodies of one length go that lie side by side in the bundle at hand, each
    /// behind a head of one byte: for who lays down several, which is told at the end.
    struct BlockCursor {
        std::byte* bytes;
        std::size_t byte_count;
        std::size_t byte_count_max;  ///< where one more begins that has room in the packet
        ChannelIndex last_channel;

        [[nodiscard]] bool has_room(ChannelIndex channel) const noexcept {
            return byte_count <= byte_count_max && channel.value - last_channel.value < 64;
        }
        /// Requires room. Writes the head, and returns where the body goes.
        [[nodiscard]] std::byte* add(ChannelIndex channel, std::size_t body_bytes) noexcept {
            std::byte* const head = bytes + byte_count;
            write_block_step(last_channel, channel, {head, 1});
            last_channel = channel;
            byte_count += 1 + body_bytes;
            return head + 1;
        }
    };
    [[nodiscard]] BlockCursor begin_alike(std::size_t body_bytes) {
        // In an empty packet there is room for it, whatever its head.
        const bool is_short = body_bytes + block_step_bytes_max <= room_bytes_;
        std::size_t room_end = packet_begin_ + room_bytes_;
        if (run_ != nullptr) {
            reserve_packet();
        } else {  // there is no packet yet
            room_end = byte_count_ + uncut_blocks_max * (body_bytes + 1);
            reserve(room_end + PlainBlock::spare_bytes);
        }
        return {data(), byte_count_, is_short ? room_end - body_bytes - 1 : std::size_t{0},
                last_channel_};
    }
    void end_alike(const BlockCursor& cursor) noexcept {
        byte_count_ = cursor.byte_count;
        last_channel_ = cursor.last_channel;
    }
    /// Alike blocks in one go that were not cut, at most.
    static constexpr std::uint32_t uncut_blocks_max = 64;
    /// How many with such a body the packet at hand has room for, side by side, the first with a
    /// head as long. Requires room for one.
    [[nodiscard]] std::size_t room_for_alike(std::size_t head_bytes,
                                             std::size_t body_bytes) const noexcept {
        const std::size_t room = room_bytes_ - (byte_count_ - packet_begin_);
        return 1 + (room - head_bytes - body_bytes) / (body_bytes + 1);
    }
    /// So many bytes are laid down later, of blocks of which the last is that of `last`.
    void skip(std::size_t byte_count, ChannelIndex last) noexcept {
        byte_count_ += byte_count;
        last_channel_ = last;
    }
    /// The next block has its head and its body there.
    void begin_block(BundleBlock& block, ChannelIndex channel) const noexcept {
        block.byte_offset = static_cast<std::uint32_t>(byte_count_);
        block.head_bytes = static_cast<std::uint16_t>(block_step_bytes(last_channel_, channel));
    }
    /// Its body is there. Writes its head.
    void end_block(const BundleBlock& block, ChannelIndex channel,
                   std::size_t body_bytes) noexcept {
        write_block_step(last_channel_, channel, {data() + block.byte_offset, block.head_bytes});
        skip_block(block, channel, body_bytes);
    }
    /// The same of a block that is laid down later.
    void skip_block(const BundleBlock& block, ChannelIndex channel,
                    std::size_t body_bytes) noexcept {
        byte_count_ += block.head_bytes + body_bytes;
        last_channel_ = channel;
    }

    /// Objects of this layout may have blocks like `plain`.
    [[nodiscard]] bool is_plain_known() const noexcept {
        return layout_facts.may_be_regular && layout_facts.is_simple &&
               plain.layout() == layout_facts.layout && plain.value_count() > 0;
    }

    // Scratch of who lays down.
    LayoutFacts layout_facts;  ///< of the last object
    PlainBlock plain;          ///< of the last block that is one

  private:
    /// What comes next is the first of a packet, behind room for its header.
    void begin_packet() noexcept {
        byte_count_ += packet_header_bytes_max;
        packet_begin_ = byte_count_;
        bundle_begin_ = byte_count_;
        last_channel_ = ChannelIndex{};
    }

    std::size_t room_bytes_;
    BundleRun* run_ = nullptr;
    KeptVector<std::byte> bytes_;  // at least as many as are used
    std::size_t byte_count_ = 0;
    std::size_t packet_begin_ = 0;  // of the packet at hand, behind room for its header
    std::size_t bundle_begin_ = 0;  // of the bundle at hand
    ChannelIndex last_channel_;     // in the packet at hand
};

}  // namespace replayout
