// SPDX-License-Identifier: MIT
#include "support/replicators/shared_once_replicator.h"

#include <replayout/reflection/diagnostics.h>

namespace replayout::bench {

/// The payloads of one tick. Lives as long as the loop over the pawns.
class SharedOnceReplicator::Payloads {
  public:
    explicit Payloads(SharedOnceReplicator& replicator) noexcept
        : replicator_(replicator),
          cut_(replicator.payloads_.data()),
          end_(replicator.payloads_.data()) {
        replicator_.packet_bytes_.clear();
    }

    [[gnu::always_inline]] void write(std::uint32_t index, const Pawn& pawn) {
        const PawnRecord record = write_pawn_record(end_, index, pawn, replicator_.shadows_[index]);
        values_ += record.values;
        if (end_ + record.bytes > cut_ + packet_bytes_max) [[unlikely]] {
            cut();
        }
        end_ += record.bytes;
    }

    /// A packet ends here.
    void cut() {
        if (end_ != cut_) {
            replicator_.packet_bytes_.push_back(static_cast<std::uint32_t>(end_ - cut_));
            cut_ = end_;
        }
    }

    [[nodiscard]] std::uint64_t values() const noexcept { return values_; }

  private:
    SharedOnceReplicator& replicator_;
    const std::byte* cut_;  // where the last packet begins
    std::byte* end_;
    std::uint64_t values_ = 0;
};

SharedOnceReplicator::SharedOnceReplicator(std::uint32_t pawn_count, std::uint32_t connection_count,
                                           Transport& transport)
    : transport_(transport),
      shadows_(pawn_count),
      payloads_(pawn_count * pawn_record_bytes_max),
      buffers_(connection_count) {
    packet_bytes_.reserve(pawn_count);
}

void SharedOnceReplicator::replicate(std::span<const Pawn> pawns) {
    REPLAYOUT_ASSERT(pawns.size() == shadows_.size());
    Payloads payloads(*this);
    for (std::uint32_t index = 0; index < pawns.size(); ++index) {
        if (!is_equal(pawns[index], shadows_[index])) {
            payloads.write(index, pawns[index]);
        }
    }
    payloads.cut();
    send(payloads);
}

void SharedOnceReplicator::replicate(std::span<const Pawn> pawns,
                                     std::span<const std::uint32_t> changed) {
    REPLAYOUT_ASSERT(pawns.size() == shadows_.size());
    Payloads payloads(*this);
    for (const std::uint32_t index : changed) {
        payloads.write(index, pawns[index]);
    }
    payloads.cut();
    send(payloads);
}

void SharedOnceReplicator::send(const Payloads& payloads) {
    for (std::uint32_t i = 0; i < buffers_.connection_count(); ++i) {
        buffers_.copy(i, payloads_, packet_bytes_, [&](std::span<const std::byte> packet) {
            transport_.send(PeerId{first_peer + i}, packet);
        });
    }
    values_sent_ += payloads.values() * buffers_.connection_count();
}

}  // namespace replayout::bench
