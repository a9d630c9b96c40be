// SPDX-License-Identifier: MIT
//
// What it costs to turn values into bits: for one receiver alone, into the shared buffer, and out
// of it; and as the floor the bit writer, told by hand which bits to write.
#include "support/measurement.h"
#include "support/no_references.h"
#include "support/workloads/class_layout.h"
#include "support/workloads/pawn.h"

#include <replayout/send_properties.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace replayout::bench {

namespace {

constexpr std::uint32_t pawn_count = 1'000;
// A block of all properties takes up to 71 bytes, so sixteen fit into a packet; then the next
// begins.
constexpr std::uint32_t blocks_per_packet = 16;
constexpr std::size_t packet_bytes = 1'200;

/// A thousand pawns with their states, and the set of properties that is written of each: 1 is
/// health, 7 position and rotation, 15 all.
class EncodeScene {
  public:
    explicit EncodeScene(std::uint32_t property_count)
        : property_count_(property_count),
          pawns_(pawn_count, 1),
          scratch_(std::pmr::get_default_resource()) {
        if (!schema_.error().empty()) {
            error_ = schema_.error();
            return;
        }
        for (std::uint32_t i = 0; i < pawn_count; ++i) {
            states_.push_back(std::make_unique<ChangelistState>(schema_.layout(),
                                                                std::pmr::get_default_resource()));
        }
        owed_.reset(pawn_property_count);
        if (property_count == 1) {
            owed_.set(pawn_health_handle - 1);
        } else {
            owed_.set_range(0, property_count);
        }
        BitWriter mask(mask_bytes_);
        write_change_mask(mask, owed_, EmptySet::Impossible);
        mask.finish_byte();
        mask_bit_count_ = change_mask_bits(owed_, EmptySet::Impossible);
        mask_bits_ = detail::load_little_endian(mask_bytes_.data());
        // The history of an object grows up to its full length; that is no part of a steady tick.
        for (std::uint32_t tick = 0; tick < 2 * ChangelistHistory::count_max; ++tick) {
            change();
        }
        check();
        // Likewise the buffers of pieces, as long as values of other lengths come.
        for (std::uint32_t tick = 0; tick < 2 * ChangelistHistory::count_max; ++tick) {
            change();
            (void)send_all(true);
        }
    }

    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    [[nodiscard]] const ReplicationCounters& counters() const noexcept { return counters_; }
    [[nodiscard]] std::uint64_t values_per_pass() const noexcept {
        return std::uint64_t{pawn_count} * property_count_;
    }

    /// Another value for everything that is written.
    void change() {
        for (std::uint32_t i = 0; i < pawn_count; ++i) {
            Pawn& pawn = pawns_.pawns()[i];
            if (property_count_ == 1) {
                pawns_.change_health(pawn);
            } else if (property_count_ == pawn_transform_count) {
                pawns_.change_transform(pawn);
            } else {
                pawns_.change_all(pawn);
            }
            (void)states_[i]->update(&pawn, no_references_, counters_);
        }
    }

    /// Writes the block of every pawn by the library. Returns the bytes written; 0: one did not
    /// fit.
    [[nodiscard]] std::uint64_t send_all(bool is_sharing) {
        SendContext context{no_references_, counters_, scratch_, sharing_level(is_sharing)};
        bool is_whole = true;
        const std::uint64_t bytes = write_all([&](std::uint32_t index, BitWriter& writer) {
            is_whole = send_properties(*states_[index], OwedVersions(), owed_, writer, context) ==
                           SendResult::Whole &&
                       is_whole;
        });
        return is_whole ? bytes : 0;
    }

    /// Writes the same by hand.
    [[nodiscard]] std::uint64_t write_all_by_hand() {
        switch (property_count_) {
            case 1:
                return write_all([this](std::uint32_t index, BitWriter& writer) {
                    writer.write_bits(mask_bits_, mask_bit_count_);
                    write_health(pawns_.pawns()[index], writer);
                    writer.finish_byte();
                });
            case pawn_transform_count:
                return write_all([this](std::uint32_t index, BitWriter& writer) {
                    writer.write_bits(mask_bits_, mask_bit_count_);
                    write_transform(pawns_.pawns()[index], writer);
                    writer.finish_byte();
                });
            default:
                return write_all([this](std::uint32_t index, BitWriter& writer) {
                    const Pawn& pawn = pawns_.pawns()[index];
                    writer.write_bits(mask_bits_, mask_bit_count_);
                    write_transform(pawn, writer);
                    write_rest(pawn, writer);
                    writer.finish_byte();
                });
        }
    }

  private:
    template <typename WriteBlock>
    [[nodiscard]] std::uint64_t write_all(WriteBlock write_block) {
        std::uint64_t bytes = 0;
        for (std::uint32_t first = 0; first < pawn_count; first += blocks_per_packet) {
            BitWriter writer(packet_);
            const std::uint32_t end = std::min(first + blocks_per_packet, pawn_count);
            for (std::uint32_t index = first; index < end; ++index) {
                write_block(index, writer);
            }
            benchmark::ClobberMemory();
            bytes += writer.byte_count();
            if (copy_ != nullptr) {
                copy_->insert(copy_->end(), writer.bytes().begin(), writer.bytes().end());
            }
        }
        return bytes;
    }

    static void write_float(float value, BitWriter& writer) noexcept {
        writer.write_bits(std::bit_cast<std::uint32_t>(value), 32);
    }
    static void write_health(const Pawn& pawn, BitWriter& writer) noexcept {
        writer.write_bits(static_cast<std::uint32_t>(pawn.health), 32);
    }
    static void write_transform(const Pawn& pawn, BitWriter& writer) noexcept {
        write_float(pawn.px, writer);
        write_float(pawn.py, writer);
        write_float(pawn.pz, writer);
        write_float(pawn.qx, writer);
        write_float(pawn.qy, writer);
        write_float(pawn.qz, writer);
        write_float(pawn.qw, writer);
    }
    static void write_rest(const Pawn& pawn, BitWriter& writer) noexcept {
        write_float(pawn.vx, writer);
        write_float(pawn.vy, writer);
        write_float(pawn.vz, writer);
        write_health(pawn, writer);
        writer.write_bits(pawn.state, 8);
        writer.write_bits(pawn.ammo, 16);
        writer.write_bits(pawn.owner, 32);
        writer.write_packed_uint(pawn.name.size());
        writer.write_bytes(std::as_bytes(std::span(pawn.name)));
    }

    /// By hand, alone, into the shared buffer and out of it: the packets must be the same.
    void check() {
        std::vector<std::byte> expected;
        copy_ = &expected;
        const std::uint64_t bytes = write_all_by_hand();
        for (const bool is_sharing : {false, true, true}) {
            std::vector<std::byte> written;
            copy_ = &written;
            if (bytes == 0 || send_all(is_sharing) != bytes || written != expected) {
                error_ = "the library and the floor must write the same bits";
            }
        }
        copy_ = nullptr;
        if (counters_.values_encoded != 2 * values_per_pass() ||
            counters_.values_reused != values_per_pass()) {
            error_ = "every value must be encoded once without sharing, and once with";
        }
    }

    std::uint32_t property_count_;
    ClassLayout schema_{declare_pawn};
    PawnScene pawns_;
    std::vector<std::unique_ptr<ChangelistState>> states_;
    ChangeMask owed_;
    std::uint64_t mask_bits_ = 0;
    std::uint32_t mask_bit_count_ = 0;
    std::array<std::byte, 8> mask_bytes_{};
    std::array<std::byte, packet_bytes> packet_{};
    std::vector<std::byte>* copy_ = nullptr;  // of all packets, while they are checked
    NoReferences no_references_;
    ReplicationCounters counters_;
    SendScratch scratch_;
    std::string error_;
};

enum class Pass : std::uint8_t { Encode, BuildPieces, CopyPieces, WriteBits };

template <Pass pass>
void run_pass(benchmark::State& state) {
    EncodeScene scene(static_cast<std::uint32_t>(state.range(0)));
    if (!is_ready(state, scene.error())) {
        return;
    }
    const ReplicationCounters before = scene.counters();
    Measured measured;
    for (auto _ : state) {
        if constexpr (pass == Pass::BuildPieces) {
            scene.change();
        }
        const AllocationWatch allocations;
        const StopWatch watch;
        const std::uint64_t bytes = pass == Pass::WriteBits ? scene.write_all_by_hand()
                                                            : scene.send_all(pass != Pass::Encode);
        add_time(state, measured, watch.seconds());
        measured.allocations += allocations.count();
        measured.objects += pawn_count;
        measured.bytes += bytes;
    }
    const ReplicationCounters& after = scene.counters();
    measured.values_encoded = after.values_encoded - before.values_encoded;
    const std::uint64_t values =
        static_cast<std::uint64_t>(state.iterations()) * scene.values_per_pass();
    const bool is_encoding = pass == Pass::Encode || pass == Pass::BuildPieces;
    if (measured.values_encoded != (is_encoding ? values : 0) || measured.bytes == 0 ||
        after.values_reused - before.values_reused != (pass == Pass::CopyPieces ? values : 0)) {
        state.SkipWithError("encoded another number of values than there are");
    }
    report(state, measured);
}

void BM_EncodeProperties(benchmark::State& state) {
    run_pass<Pass::Encode>(state);
}
void BM_BuildPieces(benchmark::State& state) {
    run_pass<Pass::BuildPieces>(state);
}
void BM_CopyPieces(benchmark::State& state) {
    run_pass<Pass::CopyPieces>(state);
}
void BM_WriteBits(benchmark::State& state) {
    run_pass<Pass::WriteBits>(state);
}

void add_axes(benchmark::internal::Benchmark* benchmark) {
    benchmark->ArgName("properties")
        ->Arg(1)
        ->Arg(pawn_transform_count)
        ->Arg(pawn_property_count)
        ->Apply(clock_by_hand);
}

BENCHMARK(BM_EncodeProperties)->Apply(add_axes);
BENCHMARK(BM_BuildPieces)->Apply(add_axes);
BENCHMARK(BM_CopyPieces)->Apply(add_axes);
BENCHMARK(BM_WriteBits)->Apply(add_axes);

}  // namespace

}  // namespace replayout::bench
