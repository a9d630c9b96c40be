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

}  // namespace

BundleSender::BundleSender(const ObjectStore& objects, ConnectionPairs& pairs, SentRecords& records,
                           PropertySender& properties, PacketSender& packets, SendContext& context,
                           std::span<TypeCounters> type_counters)
    : objects_(objects),
      pairs_(pairs),
      records_(records),
      properties_(properties),
      packets_(packets),
      context_(context),
      type_counters_(type_counters) {}

void BundleSender::leave(std::uint32_t index) {
    (void)pairs_.edit(index);
    pairs_.pending().set(index);
}

void BundleSender::decline(const FlushChanges& changes) {
    if (changes.has_any) {
        pairs_.for_each_regular(changes.objects, [&](std::uint32_t index) { leave(index); });
    }
    pairs_.caught_up();
}

void BundleSender::take(BundleBuilder& bundles) {
    const BundleRun& run = bundles.run();
    const std::span<const Bundle> list = run.bundles();
    std::uint64_t next = list.empty() ? 0 : regular_blocks(run, list[0]);
    for (std::uint32_t i = 0; i < list.size(); ++i) {
        const std::uint64_t blocks = next;
        next = i + 1 < list.size() ? regular_blocks(run, list[i + 1]) : 0;
        if (is_packet(list[i], blocks, next)) {
            send_packet(bundles, i);
        } else if (blocks != 0) {
            send_blocks(bundles, i, blocks);
        }
    }
    for (const std::uint32_t index : bundles.loose()) {
        if (pairs_.is_regular(index)) {
            leave(index);
        }
    }
    pairs_.caught_up();
}

bool BundleSender::is_packet(const Bundle& bundle, std::uint64_t blocks,
                             std::uint64_t next) const noexcept {
    // With the first block behind it the packet would go out as it is.
    return bundle.is_full && blocks == bundle.all_blocks() && (next & 1) != 0 &&
           packets_.builder().is_empty() && packets_.can_write();
}

void BundleSender::send_packet(BundleBuilder& bundles, std::uint32_t bundle) {
    const Bundle& whole = bundles.run().bundles()[bundle];
    packets_.builder().add_laid_down(bundles.bytes_of(whole));
    add_record(bundles, {&bundles.run(), bundle, whole.all_blocks()});
    packets_.flush_full();
}

void BundleSender::send_blocks(BundleBuilder& bundles, std::uint32_t bundle, std::uint64_t blocks) {
    const std::uint64_t sent = bundles.has_bytes() ? send_copied(bundles, bundle, blocks)
                                                   : send_written(bundles, bundle, blocks);
    const std::uint32_t begin = bundles.run().bundles()[bundle].begin;
    for (std::uint64_t left = blocks & ~sent; left != 0; left &= left - 1) {
        leave(bundles.run()
                  .blocks()[begin + static_cast<std::uint32_t>(std::countr_zero(left))]
                  .index);
    }
}

std::uint64_t BundleSender::regular_blocks(const BundleRun& run, const Bundle& bundle) const {
    const auto are_regular = [&](const ObjectBits& objects) {
        return (pairs_.regular().word(objects.word) & objects.bits) == objects.bits;
    };
    const std::span<const ObjectBits> words = run.words_of(bundle);
    if (std::all_of(words.begin(), words.end(), are_regular)) {
        return bundle.all_blocks();
    }
    const std::span<const BundleBlock> blocks =
        run.blocks().subspan(bundle.begin, bundle.block_count());
    std::uint64_t regular = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        regular |= (pairs_.is_regular(blocks[i].index) ? std::uint64_t{1} : 0) << i;
    }
    return regular;
}

std::uint64_t BundleSender::send_copied(BundleBuilder& bundles, std::uint32_t bundle,
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

std::uint32_t BundleSender::copy_blocks(const BundleBuilder& bundles, std::uint32_t bundle,
                                        std::uint32_t begin, std::uint32_t end) {
    const std::uint32_t first = bundles.run().bundles()[bundle].begin;
    const auto block_at = [&](std::uint32_t place) -> const BundleBlock& {
        return bundles.run().blocks()[first + place];
    };
    const ChannelIndex channel = ObjectStore::channel_of(block_at(begin).index);
    const std::size_t room_bytes = packets_.builder().room_for_blocks(channel);
    const std::size_t start = block_at(begin).byte_offset + block_at(begin).head_bytes;
    std::uint32_t next = end;
    if (bundles.end_of(first + end - 1) - start > room_bytes) {
        next = begin;
        while (bundles.end_of(first + next) - start <= room_bytes) {
            ++next;
        }
    }
    if (next > begin) {
        packets_.builder().add_blocks(
            channel, ObjectStore::channel_of(block_at(next - 1).index),
            bundles.bytes().subspan(start, bundles.end_of(first + next - 1) - start));
    }
    return next;
}

std::uint64_t BundleSender::send_written(BundleBuilder& bundles, std::uint32_t bundle,
                                         std::uint64_t blocks) {
    const std::uint32_t first = bundles.run().bundles()[bundle].begin;
    std::uint64_t sent = 0;
    std::uint64_t in_packet = 0;
    std::uint64_t left = blocks;
    while (left != 0 && packets_.can_write()) {
        const auto place = static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint64_t bit = std::uint64_t{1} << place;
        const BundleBlock& block = bundles.run().blocks()[first + place];
        const ChannelIndex channel = ObjectStore::channel_of(block.index);
        const PropertySender::RegularBlock regular = encode(block);
        if (regular.bytes.empty()) {
            left &= ~bit;
            continue;
        }
        if (regular.bytes.size() > packets_.builder().room_for_blocks(channel)) {
            add_record(bundles, {&bundles.run(), bundle, std::exchange(in_packet, 0)});
            packets_.flush_full();
            if (!packets_.can_write()) {
                break;
            }
        }
        packets_.builder().add_blocks(channel, channel, regular.bytes);
        properties_.count_regular(block.index, regular);
        left &= ~bit;
        in_packet |= bit;
        sent |= bit;
    }
    add_record(bundles, {&bundles.run(), bundle, in_packet});
    return sent;
}

PropertySender::RegularBlock BundleSender::encode(const BundleBlock& block) {
    if (!type_counters_.empty()) {
        context_.type_counters = &type_counters_[objects_.at(block.index)->layout_number()];
    }
    return properties_.regular_block(block.index, position_before(block.version));
}

void BundleSender::add_record(BundleBuilder& bundles, const SentBundle& sent) {
    if (sent.blocks == 0) {
        return;
    }
    records_.add_bundle(sent);
    if (bundles.has_bytes()) {
        count_copied(bundles, sent);
    }
}

void BundleSender::count_copied(BundleBuilder& bundles, const SentBundle& sent) {
    const Bundle& bundle = bundles.run().bundles()[sent.bundle];
    const std::uint64_t fresh = bundles.take(sent.bundle, sent.blocks);
    ReplicationCounters& counters = context_.counters;
    ++counters.bundles_copied;
    const bool is_uniform =
        sent.blocks == bundle.all_blocks() && (fresh == 0 || fresh == sent.blocks);
    if (is_uniform && type_counters_.empty()) {
        const std::uint32_t block_count = bundle.block_count();
        const bool is_reused = fresh == 0;
        counters.blocks_sent += block_count;
        (is_reused ? counters.payloads_reused : counters.payloads_built) += block_count;
        counters.block_misses[static_cast<std::size_t>(BlockMiss::FirstUse)] +=
            is_reused ? 0 : block_count;
        counters.properties_sent += bundle.property_count;
        counters.pieces_reused += is_reused ? bundle.property_count : 0;
        counters.block_bytes_sent += bundle.body_bytes;
    } else {
        count_blocks(bundles, sent, fresh);
    }
    if (PairValidator* validator = pairs_.validator()) {
        for (std::uint64_t left = sent.blocks; left != 0; left &= left - 1) {
            const std::uint32_t place =
                bundle.begin + static_cast<std::uint32_t>(std::countr_zero(left));
            validator->block_sent(bundles.run().blocks()[place].index, bundles.body_of(place));
        }
    }
}

void BundleSender::count_blocks(const BundleBuilder& bundles, const SentBundle& sent,
                                std::uint64_t fresh) {
    const std::uint32_t begin = bundles.run().bundles()[sent.bundle].begin;
    ReplicationCounters& counters = context_.counters;
    for (std::uint64_t left = sent.blocks; left != 0; left &= left - 1) {
        const std::uint32_t place = begin + static_cast<std::uint32_t>(std::countr_zero(left));
        const std::uint32_t property_count = bundles.run().blocks()[place].property_count;
        const bool is_reused = (fresh & left & ~(left - 1)) == 0;
        ++counters.blocks_sent;
        if (is_reused) {
            ++counters.payloads_reused;
        } else {
            ++counters.payloads_built;
            counters.count_miss(BlockMiss::FirstUse);
        }
        counters.properties_sent += property_count;
        counters.pieces_reused += is_reused ? property_count : 0;
        counters.block_bytes_sent += bundles.body_of(place).size();
        if (!type_counters_.empty()) {
            count_by_type(bundles, place, is_reused);
        }
    }
}

void BundleSender::count_by_type(const BundleBuilder& bundles, std::uint32_t place,
                                 bool is_reused) {
    const std::uint32_t index = bundles.run().blocks()[place].index;
    TypeCounters& type = type_counters_[objects_.at(index)->layout_number()];
    const std::span<const std::byte> body = bundles.body_of(place);
    ++type.blocks_sent;
    type.block_bytes_sent += body.size();
    if (is_reused) {
        type.count_payload_reuse(body, context_.scratch.part);
        return;
    }
    ++type.payloads_built;
    type.count_miss(BlockMiss::FirstUse);
    for (const BundleBuilder::LaidDownValue& value : bundles.values_of(place)) {
        type.count_sent(value.handle, value.bits, value.bits_copied);
    }
}

}  // namespace replayout
