// SPDX-License-Identifier: MIT
//
// Memory of bunches on their way out. Opens and closes come and go all the time, so up to 64
// delivered bunches with small payloads are kept for the next ones.
#pragma once

#include <replayout/reflection/memory.h>

#include "out_bunch.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace replayout {

/// Outlives the bunches that it made.
class BunchPool {
  public:
    struct GiveBack {
        BunchPool* pool;
        void operator()(OutBunch* bunch) const noexcept { pool->give_back(bunch); }
    };
    using BunchPtr = std::unique_ptr<OutBunch, GiveBack>;

    explicit BunchPool(MemoryResource* resource);
    BunchPool(const BunchPool&) = delete;
    BunchPool& operator=(const BunchPool&) = delete;
    BunchPool(BunchPool&&) = delete;
    BunchPool& operator=(BunchPool&&) = delete;
    ~BunchPool();

    /// Returns a new bunch that was not sent, with a copy of `payload`.
    [[nodiscard]] BunchPtr make(const BunchHeader& header, const BunchTag& tag,
                                std::span<const std::byte> payload, std::uint64_t message_bytes);
    /// Takes ownership of a bunch that left its queue; null is allowed.
    [[nodiscard]] BunchPtr own(OutBunch* bunch) noexcept { return BunchPtr(bunch, GiveBack{this}); }

  private:
    static constexpr std::size_t spare_count_max = 64;
    static constexpr std::size_t spare_bytes_max = 64;  // of the payload of each

    void give_back(OutBunch* bunch) noexcept;
    void free(OutBunch* bunch) noexcept;

    Allocator<OutBunch> allocator_;
    Vector<OutBunch*> spare_;
};

}  // namespace replayout
