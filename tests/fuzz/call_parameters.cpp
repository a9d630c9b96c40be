// SPDX-License-Identifier: MIT
//
// Parameters of a remote call, of one of sixteen types. Refused they have changed nothing; taken
// they are sent on, and arrive as they are.
//
//     u8 type   the bytes
#include <replayout/call_parameters.h>

#include "fuzz/block_victim.h"

namespace replayout::test {
namespace {

/// One who is called.
struct Callee {
    explicit Callee(const RandomTypes& types)
        : layout(types.layout(0)), params(types.make_object(0)), receiver(layout, &memory) {
        for (std::uint64_t guid = 1; guid <= fuzz_guid_max; ++guid) {
            receiver.package_map.bind(NetGUID{guid}, ObjectHandle{guid});
        }
    }

    bool receive(std::span<const std::byte> bytes) {
        DecodeBudget budget;
        BitReader reader(bytes, &budget);
        ReceiveContext context = receiver.context();
        const bool is_taken = receive_call_parameters(layout, reader, params->memory(),
                                                      receiver.state, unmapped, context);
        REQUIRE(is_taken != reader.failed());
        REQUIRE(memory.bytes_in_use_max() <= 1'024 * 1'024);
        REQUIRE(std::is_sorted(unmapped.begin(), unmapped.end(), [](NetGUID left, NetGUID right) {
            return left.value < right.value;
        }));
        is_whole = context.values_refused + context.values_failed == 0;
        return is_taken;
    }

    const RepLayout& layout;
    CountingResource memory;
    std::unique_ptr<RawObject> params;
    BlockReceiver receiver;
    Vector<NetGUID> unmapped;
    bool is_whole = true;
};

struct Caller {
    explicit Caller(const RepLayout& layout)
        : parameters(layout, std::pmr::get_default_resource()),
          scratch(std::pmr::get_default_resource()) {}

    /// Nothing: a serializer would not write them.
    [[nodiscard]] Bytes call(const RawObject& params) {
        REQUIRE(parameters.set(params.memory(), map, counters) == CallParametersStatus::Ok);
        Bytes bytes(64 * 1'024);
        BitWriter writer(bytes);
        SendContext context{map, counters, scratch};
        const CallParametersStatus status = parameters.write(writer, context).status;
        REQUIRE((status == CallParametersStatus::Ok ||
                 status == CallParametersStatus::SerializeFailed));
        return status == CallParametersStatus::Ok ? to_bytes(writer.bytes()) : Bytes();
    }

    ServerPackageMap map;
    ReplicationCounters counters;
    CallParameters parameters;
    SendScratch scratch;
};

void check_sent_on(const RandomTypes& types, const Callee& callee) {
    Caller caller(types.layout(0));
    const Bytes bytes = caller.call(*callee.params);
    if (bytes.empty()) {
        return;
    }
    Callee next(types);
    for (std::uint64_t guid = 1; guid <= 64; ++guid) {
        next.receiver.package_map.bind(NetGUID{guid}, caller.map.object_of(NetGUID{guid}));
    }
    REQUIRE(next.receive(bytes));
    REQUIRE(state_of(*next.params) == state_of(*callee.params));
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    TreeEditLimits limits;
    limits.array_count_max = fuzz_array_count_max;
    limits.string_bytes_max = fuzz_string_bytes_max;
    limits.property_bytes_max = 300;
    for (std::uint32_t index = 0; index < fuzz_class_count; ++index) {
        const RandomTypes& types = fuzz_types(index, false);
        TreeEditor editor(index + 1, limits, [] { return Reference{2}; });
        const auto params = types.make_object(0);
        (void)editor.edit(*params, 6);
        Caller caller(types.layout(0));
        seeds.push_back(FuzzSeed().number(index, 1).add(caller.call(*params)).bytes);
    }
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    const RandomTypes& types = fuzz_types(input.byte(), false);
    Callee callee(types);
    const std::vector<Value> before = read_members(*callee.params);
    if (!callee.receive(input.rest())) {
        REQUIRE(read_members(*callee.params) == before);
        REQUIRE(callee.unmapped.empty());
        REQUIRE(callee.receiver.state.references().empty());
    } else if (callee.is_whole && callee.unmapped.empty()) {
        check_sent_on(types, callee);
    }
    return 0;
}
