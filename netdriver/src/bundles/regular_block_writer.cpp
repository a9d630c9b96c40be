// SPDX-License-Identifier: MIT
#include "regular_block_writer.h"

#include <replayout/bit_writer.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lane_blocks.h"
#include "packet_builder.h"
#include "regular_receiver.h"
#include "scoped_value.h"

namespace replayout {

// Objects that changed are laid down after the compare of all of them, when each is far away again.
// So what an object leads to is asked for some objects ahead, across the words of the row:
//
//     changed      3 4 5 9 | 64 70 71 ...
//                  ^     ^       ^
//             laid down  near    far        its values; where it is, and its state
class RegularBlockWriter::BlocksAhead {
  public:
    /// Looks ahead among the objects in these words of `changed`, in their order.
    BlocksAhead(const ObjectStore& objects, const BitRow& changed, LaneRange words) noexcept
        : objects_(&objects), far_(changed, words), near_(changed, words) {
        for (std::uint32_t i = 0; i < far_steps; ++i) {
            step_far();
        }
        for (std::uint32_t i = 0; i < near_steps; ++i) {
            step_near(PlainBlock());
        }
    }

    /// The next one is laid down, in a block like `block`, as far as is known.
    [[gnu::always_inline]] void step(const PlainBlock& block) noexcept {
        step_far();
        step_near(block);
    }

  private:
    // By measuring: far enough for the memory to be there.
    static constexpr std::uint32_t far_steps = 6;
    static constexpr std::uint32_t near_steps = 3;

    class Walk {
      public:
        Walk(const BitRow& row, LaneRange words) noexcept
            : row_(&row), word_(words.begin), end_(words.end) {
            if (word_ < end_) {
                left_ = row_->word(word_);
                find_next();
            }
        }

        /// Returns whether an object is left.
        [[nodiscard]] bool has_next() const noexcept { return left_ != 0; }
        [[gnu::always_inline]] ObjectIndex next() noexcept {
            const ObjectIndex index = BitRow::lowest_of(word_, left_);
            left_ &= left_ - 1;
            if (left_ == 0) {
                find_next();
            }
            return index;
        }

      private:
        void find_next() noexcept {
            while (left_ == 0 && ++word_ < end_) {
                left_ = row_->word(word_);
            }
        }

        const BitRow* row_;
        std::size_t word_;
        std::size_t end_;
        std::uint64_t left_ = 0;
    };

    [[gnu::always_inline]] void step_far() noexcept {
        if (far_.has_next()) {
            if (const ServerObject* info = objects_->at(far_.next())) {
                info->prefetch_newest();
            }
        }
    }
    [[gnu::always_inline]] void step_near(const PlainBlock& block) noexcept {
        if (near_.has_next()) {
            const ServerObject* info = objects_->at(near_.next());
            if (info != nullptr && block.value_count() > 0) {
                block.prefetch(info->changelist_state().shadow());
            }
        }
    }

    const ObjectStore* objects_;
    Walk far_;
    Walk near_;
};

// Where blocks with bodies of one length go that lie side by side in the bundle at hand, each after
// a head of one byte. The writer learns of them at the end of all.
struct RegularBlockWriter::BlockCursor {
    std::byte* bytes;
    std::size_t byte_count;
    std::size_t byte_count_max;  // where one more begins that has room in the packet
    ChannelIndex last_channel;

    [[nodiscard]] bool has_room(ChannelIndex channel) const noexcept {
        return byte_count <= byte_count_max && channel.value - last_channel.value < 64;
    }
    /// Requires room. Writes the head, and returns where the body goes.
    [[nodiscard]] std::byte* add(ChannelIndex channel, std::size_t body_bytes) noexcept {
        std::byte* const head = bytes + byte_count;
        write_block_step(last_channel, channel, BlockLength::None, {head, 1});
        last_channel = channel;
        byte_count += 1 + body_bytes;
        return head + 1;
    }
};

inline void RegularBlockWriter::begin_packet() noexcept {
    byte_count_ += packet_header_bytes_max;
    packet_begin_ = byte_count_;
    bundle_begin_ = byte_count_;
    last_channel_ = ChannelIndex{};
}

inline void RegularBlockWriter::make_room(ChannelIndex channel, std::size_t body_bytes) {
    const std::size_t head_bytes = block_step_bytes(last_channel_, channel);
    if (run_ != nullptr && byte_count_ - packet_begin_ + head_bytes + body_bytes > room_bytes_) {
        end_bundle();
        run_->end_packet();
        begin_packet();
    }
}

inline void RegularBlockWriter::reserve_packet() {
    bytes_.grow_to(byte_count_ + packet_header_bytes_max + room_bytes_ + block_step_bytes_max +
                   block_length_bytes_max + PlainBlock::spare_bytes);
}

inline std::size_t RegularBlockWriter::body_bytes_max(ChannelIndex channel,
                                                      BlockLength length) const noexcept {
    return PacketBuilder::block_bytes_max(room_bytes_, channel, length);
}

inline std::size_t RegularBlockWriter::next_body(ChannelIndex channel) const noexcept {
    return byte_count_ + block_step_bytes(last_channel_, channel);
}

inline void RegularBlockWriter::begin_block(BundleBlock& block, ChannelIndex channel,
                                            std::size_t body_bytes) const noexcept {
    block.byte_offset = static_cast<std::uint32_t>(byte_count_);
    block.head_bytes = static_cast<std::uint16_t>(block_step_bytes(last_channel_, channel));
    block.body_bytes = static_cast<std::uint16_t>(body_bytes);
    block.set_length_bytes(block_length_bytes(block.length(), body_bytes));
}

inline void RegularBlockWriter::end_block(const BundleBlock& block, ChannelIndex channel) noexcept {
    std::byte* const head = bytes_.data() + block.byte_offset;
    write_block_step(last_channel_, channel, block.length(), {head, block.head_bytes});
    write_block_length(block.body_bytes, {head + block.head_bytes, block.length_bytes});
    byte_count_ += std::size_t{block.head_bytes} + block.length_bytes + block.body_bytes;
    last_channel_ = channel;
}

inline std::byte* RegularBlockWriter::add_block(BundleBlock& block, ChannelIndex channel,
                                                std::size_t body_bytes) {
    // Mostly it is so short that nobody needs to know how long the head would be.
    if (body_bytes + block_step_bytes_max + block_length_bytes_max > room_bytes_ &&
        body_bytes > body_bytes_max(channel, block.length())) {
        return nullptr;
    }
    make_room(channel, block_length_bytes(block.length(), body_bytes) + body_bytes);
    reserve_packet();
    begin_block(block, channel, body_bytes);
    end_block(block, channel);
    return bytes_.data() + byte_count_ - body_bytes;
}

inline RegularBlockWriter::BlockCursor RegularBlockWriter::begin_alike(std::size_t body_bytes) {
    // In an empty packet there is room for it, whatever its head.
    const bool is_short = body_bytes + block_step_bytes_max <= room_bytes_;
    std::size_t room_end = packet_begin_ + room_bytes_;
    if (run_ != nullptr) {
        reserve_packet();
    } else {  // there is no packet yet
        room_end = byte_count_ + uncut_blocks_max * (body_bytes + 1);
        bytes_.grow_to(room_end + PlainBlock::spare_bytes);
    }
    return {bytes_.data(), byte_count_, is_short ? room_end - body_bytes - 1 : std::size_t{0},
            last_channel_};
}

void RegularBlockWriter::begin(Contents contents, BundleRun* run,
                               std::span<TypeCounters> type_counters) noexcept {
    contents_ = contents;
    type_counters_ = type_counters;
    run_ = run;
    byte_count_ = 0;
    begin_packet();
    clear_all(loose_, values_, value_ends_);
    has_held_ = false;
    has_pivots_ = false;
}

inline const RegularBlockWriter::LayoutFacts& RegularBlockWriter::facts_of(
    const RepLayout& layout) noexcept {
    if (layout_facts_.layout != &layout) {
        layout_facts_ = {&layout, may_be_regular(layout),
                         layout.handle_count() <= 64 && layout.conditions().is_trivial(),
                         layout.needs_held_version()};
    }
    return layout_facts_;
}

inline bool RegularBlockWriter::lay_down_plain(BundleBlock& block, ChangelistState& state,
                                               SendContext& context) {
    const RepLayout& layout = state.layout();
    if (!layout_facts_.is_simple || !type_counters_.empty()) {
        return false;
    }
    const std::uint64_t handles = state.newest();
    if (!plain_.is_of(layout, handles)) {
        plain_ = PlainBlock(layout, handles);
    }
    if (plain_.value_count() == 0) {
        return false;
    }
    std::byte* const body = add_block(block, channel_of(block.index), plain_.byte_count());
    if (body == nullptr) {
        return false;
    }
    plain_.write(state, body);
    block.property_count = static_cast<std::uint16_t>(plain_.value_count());
    // Nobody can have sent any of it before, as it changed in this flush.
    state.shared().use_newest_in_place(state.version(), state.last_changed());
    context.counters.values_encoded += plain_.value_count();
    return true;
}

// Always inline: the loop that calls it keeps the block in registers.
[[gnu::always_inline]] inline RegularBlockWriter::Attempt RegularBlockWriter::lay_down_block(
    ObjectIndex index, BundleBlock& block, SendContext& context) {
    ServerObject* const info = parts_.objects.at(index);
    if (info == nullptr || parts_.changes.added.test(index)) {
        return {};
    }
    ChangelistState& state = info->changelist_state();
    // What has no version is new, and as its archetype.
    if (!facts_of(state.layout()).may_be_regular || state.version() == 0) {
        return {};
    }
    block.index = index;
    block.version = state.version();
    block.is_young = parts_.changes.young.test(index);
    if (layout_facts_.needs_held_version) {
        block.needs_held_version = true;
        block.is_pivot = state.pivots().newest == block.version;
    }
    const BlockFindings* findings = nullptr;
    if (!has_bytes() || !lay_down_plain(block, state, context)) {
        ChangeMask& owed = context.scratch.owed;
        if (parts_.unasked.test(index) || !collect_owed(*info, owed)) {
            return {};
        }
        BundleBlock own = block;  // its address is taken; `block` stays in registers
        findings = has_bytes() ? lay_down_owed(own, owed, context) : nullptr;
        if (has_bytes() ? findings == nullptr
                        : contents_ == Contents::Measured && !measure(own, owed, context)) {
            return {LaidDown::Loose};
        }
        block = own;
    }
    info->set_bundled(parts_.changes.flush, has_bytes() ? block.version : 0);
    return {LaidDown::Block, findings};
}

template <typename Blocks>
void RegularBlockWriter::lay_down_one(ObjectIndex index, Blocks& blocks, SendContext& context) {
    BundleBlock block;
    const Attempt attempt = lay_down_block(index, block, context);
    switch (attempt.result) {
        case LaidDown::Block:
            if (!type_counters_.empty() && attempt.findings != nullptr) {
                const Vector<BlockValue>& values = attempt.findings->values;
                values_.insert(values_.end(), values.begin(), values.end());
                value_ends_.push_back(values_.size());
            }
            has_held_ = has_held_ || block.needs_held_version;
            has_pivots_ = has_pivots_ || block.is_pivot;
            blocks.add_block(block);
            if (blocks.is_bundle_full()) {
                end_bundle();
            }
            break;
        case LaidDown::Loose:
            loose_.push_back(index);
            break;
        case LaidDown::Nothing:
            break;
    }
}

inline bool RegularBlockWriter::is_plain_known() const noexcept {
    return layout_facts_.may_be_regular && layout_facts_.is_simple &&
           plain_.layout() == layout_facts_.layout && plain_.value_count() > 0;
}

// For a few values the copy costs least, so what is the same for all of them is found out before.
template <typename Blocks>
[[gnu::flatten]] std::uint64_t RegularBlockWriter::lay_down_alike(std::size_t word,
                                                                  std::uint64_t objects,
                                                                  Blocks& blocks,
                                                                  BlocksAhead& blocks_ahead,
                                                                  SendContext& context) {
    if (objects == 0 || !has_bytes() || !type_counters_.empty() || !is_plain_known()) {
        return objects;
    }
    const std::uint64_t young = parts_.changes.young.word(word);
    // Of their own: what is written might be anything else.
    const PlainBlock plain = plain_;
    if (plain.layout()->needs_held_version()) {
        return objects;  // each block must say so, and whether it is a pivot
    }
    BlocksAhead ahead = blocks_ahead;
    const ObjectStore& known_objects = parts_.objects;
    const std::uint64_t flush = parts_.changes.flush;
    const std::uint32_t count_max = blocks.append_max();
    BlockCursor cursor = begin_alike(plain.byte_count());
    const std::uint32_t room_count = std::min(count_max, count_bits(objects));
    BundleBlock* const laid_down = blocks.begin_blocks(room_count);
    std::uint32_t count = 0;
    std::uint64_t left = objects;
    for (; left != 0 && count < count_max; left &= left - 1, ++count) {
        const ObjectIndex index = BitRow::lowest_of(word, left);
        const ChannelIndex channel = channel_of(index);
        ServerObject* const info = known_objects.at(index);
        if (info == nullptr || !cursor.has_room(channel) || (young & left & (~left + 1)) != 0) {
            break;
        }
        ChangelistState& state = info->changelist_state();
        const Version version = state.version();
        if (version == 0 || &state.layout() != plain.layout() ||
            !plain.is_of(state.layout(), state.newest())) {
            break;
        }
        ahead.step(plain);
        laid_down[count] = BundleBlock(index, version, cursor.byte_count, 1, plain.value_count(),
                                       plain.byte_count());
        plain.write(state, cursor.add(channel, plain.byte_count()));
        state.shared().use_newest_in_place(version, state.last_changed());
        info->set_bundled(flush, version);
    }
    blocks.end_blocks(room_count - count);
    if (count > 0) {
        blocks_ahead = ahead;
        byte_count_ = cursor.byte_count;
        last_channel_ = cursor.last_channel;
        const std::uint64_t value_count = std::uint64_t{count} * plain.value_count();
        blocks.count_appended(count, {static_cast<std::uint32_t>(word), objects & ~left},
                              value_count, count * plain.byte_count(), 0);
        context.counters.values_encoded += value_count;
    }
    return left;
}

template <typename Blocks>
void RegularBlockWriter::lay_down_words(LaneRange words, Blocks& blocks, SendContext& context) {
    BlocksAhead ahead(parts_.objects, parts_.changes.objects, words);
    for (std::size_t word = words.begin; word < words.end; ++word) {
        // No client has been shown what is new, so no pair of it is regular.
        std::uint64_t left = parts_.changes.objects.word(word) & ~parts_.changes.added.word(word);
        while ((left = lay_down_alike(word, left, blocks, ahead, context)) != 0) {
            ahead.step(plain_);
            lay_down_one(BitRow::lowest_of(word, left), blocks, context);
            left &= left - 1;
        }
    }
}

template <typename Blocks>
void RegularBlockWriter::lay_down(std::span<const ObjectIndex> order, LaneRange words,
                                  Blocks& blocks, SendContext& context) {
    const ScopedValue not_sent(context.is_counting_sent, false);  // until it is taken
    for (const ObjectIndex index : order) {
        lay_down_one(index, blocks, context);
    }
    if (words.begin < words.end) {
        lay_down_words(words, blocks, context);
    }
    context.type_counters = nullptr;
}

[[gnu::noinline]] bool RegularBlockWriter::collect_owed(const ServerObject& info,
                                                        ChangeMask& owed) {
    const ChangelistState& state = info.changelist_state();
    if (state.layout().has_atomic_groups()) {
        state.collect_owed(position_before_newest(state), owed);
    } else {
        state.collect_newest(owed);
    }
    if (!state.layout().conditions().is_trivial()) {
        state.conditions().filter(regular_conditions(info.ownership()), owed);
    }
    return owed.any();
}

[[gnu::noinline]] const BlockFindings* RegularBlockWriter::lay_down_owed(BundleBlock& block,
                                                                         const ChangeMask& owed,
                                                                         SendContext& context) {
    const ChannelIndex channel = channel_of(block.index);
    reserve_packet();
    // Where it will lie at last is known when its length is: not before this.
    const std::size_t written_at =
        next_body(channel) + (block.is_young ? block_length_bytes_max : 0);
    BitWriter body({bytes_.data() + written_at, body_bytes_max(channel, block.length())});
    ServerObject& info = *parts_.objects.at(block.index);
    count_type_of(info, type_counters_, context);
    OwedVersions position;
    position.sent_version = block.version - 1;
    if (layout_facts_.needs_held_version) {
        position.held_version = held_before_regular(info.changelist_state(), block.version);
    }
    if (layout_facts_.needs_held_version &&
        info.changelist_state().must_restart_arrays(position, owed)) {
        return nullptr;
    }
    const SentBlock sent = send_properties(info.changelist_state(), position, owed, body, context);
    if (sent != SendResult::Whole || !sent.findings->left_out.empty() ||
        (layout_facts_.needs_held_version &&
         sent.array_steps > body.byte_count() * array_steps_per_byte(room_bytes_))) {
        return nullptr;
    }
    block.property_count = sent.property_count;
    make_room(channel, block_length_bytes(block.length(), body.byte_count()) + body.byte_count());
    reserve_packet();
    begin_block(block, channel, body.byte_count());
    std::memmove(bytes_.data() + next_body(channel) + block.length_bytes,
                 bytes_.data() + written_at, body.byte_count());
    end_block(block, channel);
    return sent.findings;
}

bool RegularBlockWriter::measure(BundleBlock& block, const ChangeMask& owed,
                                 SendContext& context) const {
    ReplicationCounters uncounted;
    ChangelistState& state = parts_.objects.at(block.index)->changelist_state();
    // The game was asked for what its serializers write; of other values nothing is kept here.
    const SharingLevel sharing =
        state.layout().has_net_serialize_structs() ? context.sharing : SharingLevel::Off;
    SendContext apart{context.package_map, uncounted, context.scratch, sharing, nullptr, false};
    const OwedVersions position = position_before_newest(state);
    if (state.must_restart_arrays(position, owed)) {
        return false;
    }
    const MeasuredBlock measured = measure_block(state, position, owed, apart);
    block.body_bytes = static_cast<std::uint16_t>(measured.byte_count);
    block.set_length_bytes(block_length_bytes(block.length(), measured.byte_count));
    return measured.byte_count <= body_bytes_max(channel_of(block.index), block.length()) &&
           !measured.has_left_out &&
           measured.array_steps <= measured.byte_count * array_steps_per_byte(room_bytes_);
}

void RegularBlockWriter::add_findings_of(const RegularBlockWriter& lane) {
    loose_.insert(loose_.end(), lane.loose_.begin(), lane.loose_.end());
    has_held_ = has_held_ || lane.has_held_;
    has_pivots_ = has_pivots_ || lane.has_pivots_;
}

BlockExtent RegularBlockWriter::begin_extent(ChannelIndex first, std::size_t body_bytes,
                                             std::uint32_t count) {
    BlockExtent extent;
    if (has_bytes()) {
        make_room(first, body_bytes);
        extent.last_channel = last_channel_;
        extent.byte_offset = static_cast<std::uint32_t>(byte_count_);
        extent.head_bytes = static_cast<std::uint16_t>(block_step_bytes(last_channel_, first));
        const std::size_t room = room_bytes_ - (byte_count_ - packet_begin_);
        const std::size_t room_count =
            1 + (room - extent.head_bytes - body_bytes) / (body_bytes + 1);
        count = static_cast<std::uint32_t>(std::min<std::size_t>(count, room_count));
    }
    extent.count = std::min(count, run_->append_max() + 1);
    return extent;
}

void RegularBlockWriter::end_extent(const BlockExtent& extent, std::size_t body_bytes,
                                    ChannelIndex last) {
    if (has_bytes()) {
        byte_count_ += extent.head_bytes + body_bytes + (extent.count - 1) * (body_bytes + 1);
        last_channel_ = last;
    }
    if (run_->is_bundle_full()) {
        end_bundle();
    }
}

template void RegularBlockWriter::lay_down(std::span<const ObjectIndex>, LaneRange, BundleRun&,
                                           SendContext&);
template void RegularBlockWriter::lay_down(std::span<const ObjectIndex>, LaneRange, LaneBlocks&,
                                           SendContext&);

}  // namespace replayout
