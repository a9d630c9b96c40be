// SPDX-License-Identifier: MIT
#include "open_bunch.h"

#include <replayout/bit_writer.h>

#include <cstring>
#include <memory>
#include <new>

namespace replayout {

OpenBunch* OpenBunch::make(ChannelIndex channel, std::span<const std::byte> payload,
                           MemoryResource* resource) {
    BunchHeader header = header_of(channel);
    header.payload_bytes = static_cast<std::uint32_t>(payload.size());
    const std::size_t header_bytes = bunch_header_bytes(header);
    const std::size_t byte_count = header_bytes + payload.size();
    void* const memory = resource->allocate(sizeof(OpenBunch) + byte_count, alignof(OpenBunch));
    auto* const bunch = ::new (memory) OpenBunch(byte_count, header_bytes, resource);
    BitWriter writer({bunch->memory(), header_bytes});
    write_bunch_header(writer, header);
    REPLAYOUT_ASSERT(!writer.overflowed() && writer.byte_count() == header_bytes);
    if (!payload.empty()) {
        std::memcpy(bunch->memory() + header_bytes, payload.data(), payload.size());
    }
    return bunch;
}

void OpenBunch::free() noexcept {
    MemoryResource* const resource = resource_;
    const std::size_t bytes = sizeof(OpenBunch) + byte_count_;
    std::destroy_at(this);
    resource->deallocate(this, bytes, alignof(OpenBunch));
}

}  // namespace replayout
