// SPDX-License-Identifier: MIT
#include <replayout/change_mask.h>

#include "small_set.h"

namespace replayout {

namespace {

[[nodiscard]] std::uint32_t run_count_offset(EmptySet empty) noexcept {
    return empty == EmptySet::Impossible ? 1 : 0;
}

template <typename Visitor>
void for_each_run(const ChangeMask& mask, Visitor visit) {
    std::uint32_t end = 0;
    bool is_first = true;
    for (std::uint32_t begin = mask.next(0); begin < mask.bit_count(); begin = mask.next(end)) {
        const std::uint32_t gap = is_first ? begin : begin - end - 1;
        end = mask.next_clear(begin);
        visit(gap, end - begin);
        is_first = false;
    }
}

}  // namespace

std::uint32_t ChangeMask::count() const noexcept {
    std::uint32_t count = 0;
    for (const std::uint64_t word : words_) {
        count += static_cast<std::uint32_t>(std::popcount(word));
    }
    return count;
}

RunLengthMeter::RunLengthMeter(std::uint32_t bit_count) noexcept
    : bit_count_(bit_count), order_(gap_order(bit_count)) {}

void RunLengthMeter::add(std::uint32_t bit) noexcept {
    if (run_count_ > 0 && bit == end_) {
        ++run_length_;
        ++end_;
        return;
    }
    REPLAYOUT_ASSERT(run_count_ == 0 || bit > end_);
    if (run_count_ > 0) {
        closed_bits_ += exp_golomb_bits(run_length_ - 1, 0);
    }
    const std::uint32_t gap = run_count_ == 0 ? bit : bit - end_ - 1;
    closed_bits_ += exp_golomb_bits(gap, order_);
    ++run_count_;
    run_length_ = 1;
    end_ = bit + 1;
}

std::uint32_t RunLengthMeter::bits(EmptySet empty) const noexcept {
    const std::uint32_t offset = run_count_offset(empty);
    REPLAYOUT_ASSERT(run_count_ >= offset);
    std::uint64_t runs_bits = closed_bits_ + exp_golomb_bits(run_count_ - offset, 0);
    if (run_count_ > 0) {
        runs_bits += exp_golomb_bits(run_length_ - 1, 0);
    }
    return static_cast<std::uint32_t>(1 + std::min<std::uint64_t>(runs_bits, bit_count_));
}

namespace {

void write_small_set(BitWriter& writer, std::uint64_t set, std::uint32_t bit_count,
                     EmptySet empty) noexcept {
    const SmallCodes& gaps = small_codes[gap_order(bit_count)];
    const SmallCodes& counts = small_codes[0];
    BitRegister runs;
    std::uint32_t run_count = 0;
    std::uint32_t joint = 0;  // the clear handle between two runs, which no gap counts
    // Where it gets as long as the dense form, nobody needs the rest.
    for (std::uint64_t rest = set; rest != 0 && runs.count < bit_count; ++run_count) {
        const auto gap = static_cast<std::uint32_t>(std::countr_zero(rest));
        rest >>= gap;
        const auto length = static_cast<std::uint32_t>(std::countr_one(rest));
        rest = (rest >> (length - 1)) >> 1;
        // Both at once, as only the first bit can be said to lie within the register.
        const ExpGolombCode before = gaps[gap - joint];
        const ExpGolombCode within = counts[length - 1];
        runs.add(before.bits | (std::uint64_t{within.bits} << before.count),
                 std::uint32_t{before.count} + within.count);
        joint = 1;
    }
    const ExpGolombCode count = counts[run_count - run_count_offset(empty)];
    if (count.count + runs.count >= bit_count) {
        writer.write_bool(false);
        writer.write_bits(set, bit_count);
        return;
    }
    BitRegister code{1, 1};
    code.add(count.bits, count.count);
    code.add(runs.bits, runs.count);
    writer.write_bits(code.bits, code.count);
}

/// The form in runs, as far as its length goes.
struct RunsForm {
    std::uint64_t bits = 0;
    std::uint32_t run_count = 0;
};

[[nodiscard]] RunsForm measure_runs(const ChangeMask& mask, EmptySet empty) noexcept {
    const std::uint32_t order = gap_order(mask.bit_count());
    RunsForm form;
    for_each_run(mask, [&](std::uint32_t gap, std::uint32_t length) {
        ++form.run_count;
        form.bits += exp_golomb_bits(gap, order) + exp_golomb_bits(length - 1, 0);
    });
    form.bits += exp_golomb_bits(form.run_count - run_count_offset(empty), 0);
    return form;
}

}  // namespace

std::uint32_t change_mask_bits(const ChangeMask& mask, EmptySet empty) noexcept {
    const RunsForm runs = measure_runs(mask, empty);
    return static_cast<std::uint32_t>(1 + std::min<std::uint64_t>(runs.bits, mask.bit_count()));
}

namespace {

// Apart, and not inline, as it takes more registers than the small sets, which are many more.
[[gnu::noinline]] void write_large_set(BitWriter& writer, const ChangeMask& mask,
                                       EmptySet empty) noexcept {
    const RunsForm runs = measure_runs(mask, empty);
    if (runs.bits >= mask.bit_count()) {
        writer.write_bool(false);
        std::uint32_t left = mask.bit_count();
        for (const std::uint64_t word : mask.words()) {
            const std::uint32_t step = std::min(left, 64u);
            writer.write_bits(word, step);
            left -= step;
        }
        return;
    }
    const std::uint32_t order = gap_order(mask.bit_count());
    writer.write_bool(true);
    writer.write_exp_golomb(runs.run_count - run_count_offset(empty), 0);
    for_each_run(mask, [&](std::uint32_t gap, std::uint32_t length) {
        writer.write_exp_golomb(gap, order);
        writer.write_exp_golomb(length - 1, 0);
    });
}

}  // namespace

void write_change_mask(BitWriter& writer, const ChangeMask& mask, EmptySet empty) noexcept {
    REPLAYOUT_ASSERT(empty == EmptySet::Possible || mask.any());
    if (mask.bit_count() > 0 && mask.bit_count() <= small_set_bits_max) {
        write_small_set(writer, mask.words().front(), mask.bit_count(), empty);
    } else {
        write_large_set(writer, mask, empty);
    }
}

namespace {

void read_dense(BitReader& reader, ChangeMask& mask) noexcept {
    std::uint32_t left = mask.bit_count();
    for (std::uint64_t& word : mask.words()) {
        const std::uint32_t step = std::min(left, 64u);
        word = reader.read_bits(step);
        left -= step;
    }
}

void read_runs(BitReader& reader, ChangeMask& mask, EmptySet empty) noexcept {
    const std::uint32_t order = gap_order(mask.bit_count());
    const std::uint64_t run_count =
        std::uint64_t{reader.read_exp_golomb(0)} + run_count_offset(empty);
    std::uint64_t end = 0;
    for (std::uint64_t run = 0; run < run_count && reader.spend_steps(1); ++run) {
        const std::uint64_t gap = reader.read_exp_golomb(order);
        const std::uint64_t length = std::uint64_t{reader.read_exp_golomb(0)} + 1;
        const std::uint64_t begin = end + gap + (run == 0 ? 0 : 1);
        if (reader.failed() || begin + length > mask.bit_count()) {
            reader.fail();
            return;
        }
        mask.set_range(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(length));
        end = begin + length;
    }
}

}  // namespace

void read_change_mask(BitReader& reader, ChangeMask& mask, std::uint32_t bit_count,
                      EmptySet empty) {
    mask.reset(bit_count);
    if (reader.read_bool()) {
        read_runs(reader, mask, empty);
    } else {
        read_dense(reader, mask);
    }
    if (!reader.failed() && empty == EmptySet::Impossible && !mask.any()) {
        reader.fail();
    }
}

}  // namespace replayout
