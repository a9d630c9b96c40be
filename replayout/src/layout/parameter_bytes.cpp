// SPDX-License-Identifier: MIT
#include <replayout/call_parameters.h>
#include <replayout/package_map.h>
#include <replayout/parameter_bytes.h>

#include <algorithm>

namespace replayout {

namespace {

class NoObjects final : public PackageMap {
  public:
    [[nodiscard]] NetGUID guid_of(ObjectHandle) override { return {}; }
    [[nodiscard]] ObjectHandle object_of(NetGUID) override { return {}; }
};

}  // namespace

std::vector<std::byte> write_parameter_bytes(const RepLayout& layout, const void* params,
                                             std::size_t bytes_max, MemoryResource* resource) {
    constexpr std::size_t first_bytes = 4 * 1024;
    CallParameters parameters(layout, resource);
    NoObjects objects;
    ReplicationCounters counters;
    SendScratch scratch(resource);
    SendContext context{objects, counters, scratch};
    if (parameters.set(params, objects, counters) != CallParametersStatus::Ok) {
        return {};
    }
    std::vector<std::byte> bytes(std::min(first_bytes, bytes_max));
    for (;;) {
        BitWriter writer{bytes};
        const CallParametersStatus status = parameters.write(writer, context).status;
        if (status == CallParametersStatus::Ok) {
            bytes.resize(writer.byte_count());
            return bytes;
        }
        if (status != CallParametersStatus::DoesNotFit || bytes.size() == bytes_max) {
            return {};
        }
        bytes.resize(std::min(2 * bytes.size(), bytes_max));
    }
}

bool read_parameter_bytes(const RepLayout& layout, std::span<const std::byte> bytes, void* params,
                          MemoryResource* resource) {
    NoObjects objects;
    ReceiveScratch scratch(resource);
    ReceiveContext context{objects, scratch};
    context.must_fill_reader = true;
    ReceivingRepState state(resource);
    Vector<NetGUID> unmapped{Allocator<NetGUID>(resource)};
    DecodeBudget budget;
    BitReader reader(bytes, &budget);
    return receive_call_parameters(layout, reader, params, state, unmapped, context);
}

}  // namespace replayout
