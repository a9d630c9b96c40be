// SPDX-License-Identifier: MIT
#include "bundle_sender.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace replayout {

namespace {

/// Bits begin <= i < end.
[[nodiscard]] std::uint64_t bits_between(std::uint32_t begin, std::uint32_t end) noexcept {
    const std::uint64_t below_end = end == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << end) - 1;
    return below_end & (~std::uint64_t{0} << begin);
}

/// What there is in some blocks.
struct BlockSums {
    std::uint64_t blocks = 0;
    std::uint64_t properties = 0;
    std::uint64_t body_bytes = 0;
};

/// Sums over `blocks` of a bundle. Subtracts the other blocks from the bundle's totals if those are
/// fewer.
[[nodiscard]] BlockSums sums_of(const BundleRun& run, std::uint32_t bundle,
                                std::uint64_t blocks) noexcept {
    const Bundle& all = run.bundles()[bundle];
    const std::uint64_t others = all.all_blocks() & ~blocks;
    const BundleBlock* const first = run.blocks().data() + all.begin;
    const auto count = count_bits(blocks);
    const bool is_by_others = count * 2 > all.block_count();
    BlockSums sums;
    for (std::uint64_t left = is_by_others ? others : blocks; left != 0; left &= left - 1) {
        const BundleBlock& block = first[std::countr_zero(left)];
        sums.properties += block.property_count;
        sums.body_bytes += block.body_bytes;
    }
    if (is_by_others) {
        sums = {0, all.property_count - sums.properties, all.body_bytes - sums.body_bytes};
    }
    sums.blocks = count;
    return sums;
}

}  // namespace

BundleSender::BundleSender(const ObjectStore& objects, ConnectionPairs& pairs, SentRecords& records,
                           PropertySender& properties, PacketStream& packets, SendContext& context,
                           const SenderSettings& settings)
    : objects_(objects),
      pairs_(pairs),
      records_(records),
      properties_(properties),
      packets_(packets),
      context_(context),
      type_counters_(settings.type_counters),
      changes_(settings.changes),
      lane_(settings.lane),
      choice_(settings.bundle_choice) {}

void BundleSender::leave(ObjectIndex index) {
    (void)pairs_.edit(index);
    pairs_.pending().set(index);
}

void BundleSender::decline(const FlushChanges& changes) {
    pairs_.for_each_regular(changes, [&](ObjectIndex index) { leave(index); });
    pairs_.caught_up();
}

bool BundleSender::has_room_for_all(const ServerBundles& bundles) {
    const BundleRun& run = bundles.run();
    find_regular(run);
    const std::size_t packet_bytes = packets_.builder().room_bytes();
    const std::size_t room_bytes = packets_.bandwidth().bytes_left_for_objects();
    const auto count = static_cast<std::uint32_t>(run.bundles().size());
    std::size_t needed = 0;
    for (std::uint32_t i = next_regular(run, 0); i < count; i = next_regular(run, i + 1)) {
        const Bundle& bundle = run.bundles()[i];
        const std::uint64_t blocks = regular_blocks(run, i);
        needed += bundle.length_bytes;
        if (blocks == bundle.all_blocks()) {
            needed += bundle.body_bytes + bundle.block_count() * block_step_bytes_max;
            continue;
        }
        const BlockSums sums = sums_of(run, i, blocks);
        needed += sums.body_bytes + sums.blocks * block_step_bytes_max;
    }
    // A block may end one half full, or cost more steps than the open packet has left.
    const std::size_t packets = needed / packet_bytes * 2 + (run.has_held() ? 2 : 1);
    return needed + packets * packet_header_bytes_max <= room_bytes;
}

void BundleSender::find_regular(const BundleRun& run) {
    are_all_regular_ = pairs_.are_changed_regular() || are_regular(run.words());
    is_chosen_ = !are_all_regular_ && run.has_positions();
    if (is_chosen_) {
        choice_.find(run, changes_, pairs_);
    }
}

bool BundleSender::take_found(ServerBundles& bundles, bool is_all) {
    bool is_all_sent = true;
    BundleRun& run = bundles.run();
    const auto count = static_cast<std::uint32_t>(run.bundles().size());
    for (std::uint32_t i = next_regular(run, 0); i < count; i = next_regular(run, i + 1)) {
        i = send_packets(bundles, i, is_all);
        const std::uint64_t blocks = i < count ? regular_blocks(run, i) : 0;
        if (blocks != 0) {
            is_all_sent = send_blocks(bundles, i, blocks) && is_all_sent;
        }
    }
    for (const ObjectIndex index : bundles.loose()) {
        if (pairs_.is_regular(index)) {
            leave(index);
            is_all_sent = false;
        }
    }
    pairs_.caught_up();
    for (const ObjectIndex index : bundles.pivoted()) {
        if (pairs_.is_regular(index)) {
            pairs_.pivot_sent(index);
        }
    }
    return is_all_sent;
}

bool BundleSender::send_whole(ServerBundles& bundles) {
    BundleRun& run = bundles.run();
    const auto count = static_cast<std::uint32_t>(run.bundles().size());
    if (count == 0 || !bundles.were_taken(count) || !type_counters_.empty()) {
        return false;
    }
    const std::span<std::byte> bytes =
        objects_.is_shared() ? bundles.bytes_of_lane(lane_) : bundles.bytes_with_room();
    if (!packets_.send_run(run, bundles.held_count(), bytes)) {
        return false;
    }
    context_.counters.bundles_copied += count;
    count_whole(run, 0, count, true);
    pairs_.caught_up();
    return true;
}

bool BundleSender::is_regular_packet(const BundleRun& run, std::uint32_t packet) const {
    const std::span<const Bundle> bundles = run.bundles();
    for (std::uint32_t i = run.packet_begin(packet); i < run.packet_begin(packet + 1); ++i) {
        if (!are_regular(run.words_of(bundles[i]))) {
            return false;
        }
    }
    return true;
}

std::uint32_t BundleSender::packets_end(const BundleRun& run, std::uint32_t begin,
                                        bool is_all) const {
    // The last one is not full: it goes so where nothing comes behind it.
    const std::uint32_t end = run.packet_count() - (is_all ? 0 : 1);
    if (are_all_regular_) {
        return std::max(begin, end);  // most often
    }
    std::uint32_t packet = begin;
    while (packet < end && is_regular_packet(run, packet)) {
        ++packet;
    }
    if (packet == begin || packet == run.packet_count()) {
        return packet;
    }
    // Only with the block behind it would the last of these not go out as it is.
    const std::uint32_t behind = run.bundles()[run.packet_begin(packet)].begin;
    return pairs_.is_regular(run.blocks()[behind].index) ? packet : packet - 1;
}

std::uint32_t BundleSender::send_packets(ServerBundles& bundles, std::uint32_t begin, bool is_all) {
    // Who has a cap pays packet by packet.
    if (!bundles.has_bytes() || !packets_.builder().is_empty() ||
        packets_.bandwidth().is_capped()) {
        return begin;
    }
    BundleRun& run = bundles.run();
    const std::uint32_t packet = run.bundles()[begin].packet;
    if (run.packet_begin(packet) != begin) {
        return begin;
    }
    const std::span<std::byte> bytes =
        objects_.is_shared() ? bundles.bytes_of_lane(lane_) : bundles.bytes_with_room();
    const std::uint32_t end = packets_.send_bundles(run, packet, packets_end(run, packet, is_all),
                                                    bytes, pairs_.has_tracked());
    count_copied(bundles, begin, end);
    if (pairs_.keeps_account()) {
        for (std::uint32_t i = begin; i < end; ++i) {
            const SentBundle sent{&run, i, run.bundles()[i].all_blocks()};
            records_.track_bundle(sent);
            validate_copied(bundles, sent);
        }
    }
    return end;
}

bool BundleSender::send_blocks(ServerBundles& bundles, std::uint32_t bundle, std::uint64_t blocks) {
    const std::uint64_t sent = bundles.has_bytes() ? send_copied(bundles, bundle, blocks)
                                                   : send_written(bundles, bundle, blocks);
    const std::uint32_t begin = bundles.run().bundles()[bundle].begin;
    for (std::uint64_t left = blocks & ~sent; left != 0; left &= left - 1) {
        leave(bundles.run()
                  .blocks()[begin + static_cast<std::uint32_t>(std::countr_zero(left))]
                  .index);
    }
    return sent == blocks;
}

bool BundleSender::are_regular(std::span<const ObjectBits> objects) const noexcept {
    const BitRow& regular = pairs_.regular();
    return std::all_of(objects.begin(), objects.end(), [&](const ObjectBits& each) {
        return (regular.word(each.word) & each.bits) == each.bits;
    });
}

std::uint64_t BundleSender::regular_blocks(const BundleRun& run, std::uint32_t number) const {
    if (is_chosen_) {
        return choice_.blocks_of(number);
    }
    const Bundle& bundle = run.bundles()[number];
    return are_all_regular_ ? bundle.all_blocks() : run.blocks_in(bundle, pairs_.regular());
}

std::uint64_t BundleSender::send_copied(ServerBundles& bundles, std::uint32_t bundle,
                                        std::uint64_t blocks) {
    std::uint64_t in_packet = 0;
    std::uint64_t left = blocks;
    while (left != 0 && packets_.can_write()) {
        const auto begin = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint32_t end =
            begin + static_cast<std::uint32_t>(std::countr_one(left >> begin));
        const std::uint32_t next = copy_blocks(bundles, bundle, begin, end);
        const std::uint64_t written = bits_between(begin, next);
        left &= ~written;
        in_packet |= written;
        if (next < end) {
            add_record(bundles, {&bundles.run(), bundle, std::exchange(in_packet, 0)});
            packets_.flush_full();
        }
    }
    add_record(bundles, {&bundles.run(), bundle, in_packet});
    return blocks & ~left;
}

std::uint32_t BundleSender::copy_blocks(const ServerBundles& bundles, std::uint32_t bundle,
                                        std::uint32_t begin, std::uint32_t end) {
    const Bundle& whole = bundles.run().bundles()[bundle];
    const std::uint32_t first = whole.begin;
    const auto block_at = [&](std::uint32_t number) -> const BundleBlock& {
        return bundles.run().blocks()[first + number];
    };
    const ChannelIndex channel = channel_of(block_at(begin).index);
    const std::size_t room_bytes = packets_.builder().room_for_blocks(channel);
    const std::size_t start = block_at(begin).byte_offset + block_at(begin).head_bytes;
    std::uint32_t next = end;
    if (bundles.end_of(whole, first + end - 1) - start > room_bytes) {
        next = begin;
        while (bundles.end_of(whole, first + next) - start <= room_bytes) {
            ++next;
        }
    }
    if (bundles.run().has_held()) {
        next = spend_array_steps(bundles, first, {begin, next});
    }
    if (next > begin) {
        packets_.builder().add_blocks(
            channel, block_at(begin).length(), channel_of(block_at(next - 1).index),
            bundles.bytes().subspan(start, bundles.end_of(whole, first + next - 1) - start));
    }
    return next;
}

bool BundleSender::has_keyed_arrays(const BundleBlock& block) const noexcept {
    return block.needs_held_version &&
           objects_.at(block.index)->changelist_state().layout().has_keyed_arrays();
}

std::uint32_t BundleSender::spend_array_steps(const ServerBundles& bundles, std::uint32_t first,
                                              const BlockRange& blocks) {
    PacketBuilder& packet = packets_.builder();
    for (std::uint32_t i = blocks.begin; i < blocks.end; ++i) {
        const BundleBlock& block = bundles.run().blocks()[first + i];
        if (!has_keyed_arrays(block)) {
            continue;
        }
        const std::size_t steps = block.body_bytes * bundles.array_steps_per_byte();
        if (steps > packet.array_steps_left()) {
            return i;
        }
        packet.spend_array_steps(steps);
    }
    return blocks.end;
}

std::uint64_t BundleSender::send_written(ServerBundles& bundles, std::uint32_t bundle,
                                         std::uint64_t blocks) {
    const std::uint32_t first = bundles.run().bundles()[bundle].begin;
    std::uint64_t sent = 0;
    std::uint64_t in_packet = 0;
    std::uint64_t left = blocks;
    while (left != 0 && packets_.can_write()) {
        const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t bit = std::uint64_t{1} << number;
        const BundleBlock& block = bundles.run().blocks()[first + number];
        const ChannelIndex channel = channel_of(block.index);
        const ObjectLock lock = objects_.lock(block.index);  // until the block is copied
        const BlockWriter::RegularBlock regular = encode(block);
        if (regular.bytes.empty()) {
            left &= ~bit;
            continue;
        }
        const std::size_t array_steps =
            !has_keyed_arrays(block) ? 0 : regular.bytes.size() * bundles.array_steps_per_byte();
        const std::size_t bytes =
            block_length_bytes(block.length(), regular.bytes.size()) + regular.bytes.size();
        if (bytes > packets_.builder().room_for_blocks(channel) ||
            array_steps > packets_.builder().array_steps_left()) {
            add_record(bundles, {&bundles.run(), bundle, std::exchange(in_packet, 0)});
            packets_.flush_full();
            if (!packets_.can_write()) {
                break;
            }
        }
        packets_.builder().add_block_alone(channel, block.length(), regular.bytes);
        packets_.builder().spend_array_steps(array_steps);
        properties_.blocks().count_regular(block.index, regular);
        left &= ~bit;
        in_packet |= bit;
        sent |= bit;
    }
    add_record(bundles, {&bundles.run(), bundle, in_packet});
    return sent;
}

BlockWriter::RegularBlock BundleSender::encode(const BundleBlock& block) {
    const PairRef ref = pairs_.ref(block.index);
    count_type_of(ref.object, type_counters_, context_);
    return properties_.blocks().regular_block(ref, position_before_newest(ref.state()),
                                              block.length());
}

void BundleSender::add_record(ServerBundles& bundles, const SentBundle& sent) {
    if (sent.blocks == 0) {
        return;
    }
    records_.add_bundle(sent);
    if (!bundles.has_bytes()) {
        return;
    }
    if (sent.blocks == bundles.run().bundles()[sent.bundle].all_blocks()) {
        count_copied(bundles, sent.bundle, sent.bundle + 1);
    } else {
        count_copied(bundles, sent);
    }
    validate_copied(bundles, sent);
}

void BundleSender::count_copied(ServerBundles& bundles, const SentBundle& sent) {
    ++context_.counters.bundles_copied;
    count_blocks(bundles, sent, bundles.take(sent.bundle, sent.blocks));
}

void BundleSender::count_copied(ServerBundles& bundles, std::uint32_t begin, std::uint32_t end) {
    if (!type_counters_.empty()) {
        for (std::uint32_t i = begin; i < end; ++i) {
            count_copied(bundles,
                         SentBundle{&bundles.run(), i, bundles.run().bundles()[i].all_blocks()});
        }
        return;
    }
    context_.counters.bundles_copied += end - begin;
    if (bundles.were_taken(end)) {  // by who was sent all of it before
        count_whole(bundles.run(), begin, end, true);
        return;
    }
    for (std::uint32_t i = begin; i < end; ++i) {
        const std::uint64_t all = bundles.run().bundles()[i].all_blocks();
        const std::uint64_t fresh = bundles.take(i, all);
        if (fresh == 0 || fresh == all) {
            count_whole(bundles.run(), i, i + 1, fresh == 0);
        } else {
            count_blocks(bundles, {&bundles.run(), i, all}, fresh);
        }
    }
    bundles.note_taken(begin, end);
}

void BundleSender::count_whole(const BundleRun& run, std::uint32_t begin, std::uint32_t end,
                               bool is_reused) {
    if (begin == end) {
        return;
    }
    const Bundle& first = run.bundles()[begin];
    const Bundle& last = run.bundles()[end - 1];
    const std::uint64_t blocks = last.end - first.begin;
    const std::uint64_t properties =
        last.properties_before + last.property_count - first.properties_before;
    ReplicationCounters& counters = context_.counters;
    counters.blocks_sent += blocks;
    counters.properties_sent += properties;
    counters.block_bytes_sent += last.body_bytes_before + last.body_bytes - first.body_bytes_before;
    if (is_reused) {
        counters.payloads_reused += blocks;
        counters.values_reused += properties;
    } else {
        counters.payloads_built += blocks;
        counters.block_misses[static_cast<std::size_t>(BlockMiss::FirstUse)] += blocks;
    }
}

void BundleSender::validate_copied(const ServerBundles& bundles, const SentBundle& sent) {
    const Bundle& bundle = bundles.run().bundles()[sent.bundle];
    if (PairValidator* validator = pairs_.validator()) {
        for (std::uint64_t left = sent.blocks; left != 0; left &= left - 1) {
            const std::uint32_t number =
                bundle.begin + static_cast<std::uint32_t>(std::countr_zero(left));
            validator->block_sent(bundles.run().blocks()[number].index,
                                  bundles.body_of(bundle, number));
        }
    }
}

void BundleSender::count_blocks(const ServerBundles& bundles, const SentBundle& sent,
                                std::uint64_t fresh) {
    const BlockSums all = sums_of(*sent.run, sent.bundle, sent.blocks);
    const BlockSums reused =
        fresh == 0 ? all : sums_of(*sent.run, sent.bundle, sent.blocks & ~fresh);
    ReplicationCounters& counters = context_.counters;
    counters.blocks_sent += all.blocks;
    counters.properties_sent += all.properties;
    counters.block_bytes_sent += all.body_bytes;
    counters.payloads_reused += reused.blocks;
    counters.values_reused += reused.properties;
    counters.payloads_built += all.blocks - reused.blocks;
    counters.block_misses[static_cast<std::size_t>(BlockMiss::FirstUse)] +=
        all.blocks - reused.blocks;
    if (type_counters_.empty()) {
        return;
    }
    const Bundle& bundle = bundles.run().bundles()[sent.bundle];
    for (std::uint64_t left = sent.blocks; left != 0; left &= left - 1) {
        const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
        count_by_type(bundles, bundle, bundle.begin + number, (fresh >> number & 1) == 0);
    }
}

void BundleSender::count_by_type(const ServerBundles& bundles, const Bundle& bundle,
                                 std::uint32_t number, bool is_reused) {
    const ObjectIndex index = bundles.run().blocks()[number].index;
    TypeCounters& type = type_counters_[objects_.at(index)->layout_number()];
    const std::span<const std::byte> body = bundles.body_of(bundle, number);
    ++type.blocks_sent;
    type.block_bytes_sent += body.size();
    if (is_reused) {
        type.count_payload_reuse(body, context_.scratch.part);
        return;
    }
    ++type.payloads_built;
    type.count_miss(BlockMiss::FirstUse);
    for (const BlockValue& value : bundles.values_of(number)) {
        type.count_sent(value.handle, value.bits, value.bits_copied);
    }
}

}  // namespace replayout
