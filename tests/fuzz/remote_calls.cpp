// SPDX-License-Identifier: MIT
//
// Calls of a hostile client: a server with a turret of that client's, and one that is nobody's, is
// sent whatever there is. What runs is right and allowed, on the client's own turret, no more often
// than the rates let it; a packet whose one bunch is refused ran nothing, and closed nothing but
// the connection; the server's state is as it was, its memory within limits and given back.
//
//     of each step: u8 how   how 0: u8 has bunches, u16 bytes, the bytes of a packet behind its
//     header
//                            how 1: u8 channel, u8 form, u16 bytes, the payload of one bunch
//                            how 2: u8 milliseconds pass
//
// Form: bit 0, reliable and in order; bit 1, of parts; bit 2, the first; bit 3, the last; bit 4,
// reliable, but with a number that was taken before; bit 5, filled up to what a part has.
#include "fuzz/fuzz_target.h"
#include "support/hostile/forged_caller.h"

namespace replayout::test {
namespace {

constexpr std::size_t steps_max = 64;
constexpr std::uint32_t owned_power = 11;
constexpr std::uint32_t foreign_power = 22;
constexpr std::int64_t memory_bytes_max = 1'024 * 1'024;

enum How : std::uint8_t { raw_packet, one_bunch, time_passes, how_count };
enum Form : std::uint8_t {
    is_reliable = 1,
    is_part = 2,
    is_first_part = 4,
    is_last_part = 8,
    repeats = 16,
    is_filled = 32
};

[[nodiscard]] NetConfig small_config() {
    NetConfig config;
    config.channels_max = 64;
    config.bunch_bytes_max = 4'000;
    config.client_call_bytes_max = 5 * call_part_bytes;
    config.client_waiting_max = 32;
    config.client_waiting_bytes_max = 16'000;
    config.decode_allocation_bytes_max = 256 * 1'024;
    config.calls_per_second_max = 10;
    config.calls_burst_max = 6;
    config.function_calls_per_second_max = 5;
    config.function_calls_burst_max = 4;
    return config;
}

/// A server of ours before this client.
class Target {
  public:
    Target() : caller_(small_config()) {
        foreign_ = caller_.world.add();
        caller_.world.turret(caller_.turret).power = owned_power;
        caller_.world.turret(foreign_).power = foreign_power;
        (void)caller_.driver.add_object(turret_layout(), foreign_);
        caller_.tick();
        caller_.acknowledge();
        caller_.deliver({});
        REQUIRE(caller_.driver.connection_count() == 1);
        caller_.world.on_callee = [this](const Machine& callee, const Order& order) {
            REQUIRE(&callee == &caller_.world.turret(caller_.turret));
            // References name what the server has shown, or nothing.
            REQUIRE((order.target.is_null() || caller_.world.has(order.target)));
        };
    }

    void take_packet(bool has_bunches, std::span<const std::byte> payload) {
        const bool was_joined = caller_.is_joined();
        caller_.deliver_raw(has_bunches, payload);
        check(was_joined);
    }
    void take_bunch(const Bunch& bunch) {
        const bool was_joined = caller_.is_joined();
        const std::size_t heard_before = caller_.world.heard.size();
        const bool is_in_order = !bunch.header.is_unreliable;
        caller_.deliver({bunch});
        check(was_joined);
        // One that comes in order may let others run that waited for it.
        REQUIRE((is_in_order || caller_.is_joined() || caller_.world.heard.size() == heard_before));
        REQUIRE((was_joined || caller_.world.heard.size() == heard_before));
    }
    void pass(std::uint32_t milliseconds) {
        for (std::uint32_t i = 0; i < milliseconds; ++i) {
            caller_.tick();
        }
        ticks_ += milliseconds;
    }
    [[nodiscard]] bool is_joined() const { return caller_.is_joined(); }
    [[nodiscard]] std::uint16_t next_sequence() noexcept { return ++sequence_; }

    void finish() {
        caller_.world.on_callee = {};
        const CallWorld& world = caller_.world;
        REQUIRE(world.object_count() == 2);
        REQUIRE(caller_.world.turret(caller_.turret).power == owned_power);
        REQUIRE(caller_.world.turret(foreign_).power == foreign_power);
    }

  private:
    void check(bool was_joined) {
        ++ticks_;
        const NetStats& stats = caller_.driver.stats();
        std::uint64_t closed = 0;
        for (const std::uint64_t count : stats.closed) {
            closed += count;
        }
        REQUIRE(closed == (caller_.is_joined() ? 0u : 1u));
        REQUIRE((was_joined || !caller_.is_joined()));
        REQUIRE(caller_.memory.bytes_in_use_max() <= memory_bytes_max);
        const std::vector<HeardCall>& heard = caller_.world.heard;
        REQUIRE(stats.calls_run == heard.size());
        const NetConfig config = small_config();
        // Reliable ones, and unreliable ones.
        REQUIRE(heard.size() <= 2 * allowed(config.calls_burst_max, config.calls_per_second_max));
        for (const char* function : {"fire", "aim", "reset", "ping", "deliver", "toss"}) {
            const auto count = static_cast<std::size_t>(
                std::count_if(heard.begin(), heard.end(),
                              [&](const HeardCall& call) { return call.function == function; }));
            REQUIRE(count <=
                    allowed(config.function_calls_burst_max, config.function_calls_per_second_max));
        }
        for (std::size_t i = checked_; i < heard.size(); ++i) {
            check_call(heard[i]);
        }
        checked_ = heard.size();
    }

    void check_call(const HeardCall& call) const {
        const bool is_for_servers = call.function == "fire" || call.function == "aim" ||
                                    call.function == "reset" || call.function == "deliver" ||
                                    call.function == "toss" || call.function == "ping" ||
                                    call.function == "broken";
        REQUIRE(is_for_servers);
        REQUIRE(call.power == owned_power);
        REQUIRE((call.function != "fire" || call.number != Turret::refused_number));
    }

    /// How many calls of one kind the server may have taken by now, see CallLimiter.
    [[nodiscard]] std::size_t allowed(std::uint32_t burst, std::uint32_t per_second) const {
        return burst + small_config().client_waiting_max +
               (per_second + per_second / 16 + 1) * ticks_ / 1'000 + 1;
    }

    ForgedCaller caller_;
    ObjectHandle foreign_;
    std::uint16_t sequence_ = 0;
    std::size_t checked_ = 0;
    std::size_t ticks_ = 0;
};

[[nodiscard]] Bunch read_bunch(FuzzInput& input, Target& target) {
    const std::uint8_t channel = input.byte();
    const std::uint8_t form = input.byte();
    Bytes payload = to_bytes(input.take(input.number(2) % (2 * call_part_bytes)));
    if ((form & is_filled) != 0) {
        payload.resize(call_part_bytes);
    }
    std::optional<std::uint16_t> sequence;
    if ((form & is_reliable) != 0) {
        sequence = target.next_sequence();
    } else if ((form & repeats) != 0) {
        sequence = std::uint16_t{1};
    }
    Bunch bunch = call_bunch(channel, sequence, std::move(payload));
    bunch.header.is_partial = (form & is_part) != 0;
    bunch.header.is_partial_initial = bunch.header.is_partial && (form & is_first_part) != 0;
    bunch.header.is_partial_final = bunch.header.is_partial && (form & is_last_part) != 0;
    return bunch;
}

[[nodiscard]] FuzzSeed& add_bunch(FuzzSeed& seed, std::uint8_t channel, std::uint8_t form,
                                  const Bytes& payload) {
    return seed.number(one_bunch, 1)
        .number(channel, 1)
        .number(form, 1)
        .number(payload.size(), 2)
        .add(payload);
}

/// What call_bytes() is to get as parameters, of a reference and a text.
[[nodiscard]] Bytes full_order(std::uint64_t function) {
    return call_bytes(function, [](BitWriter& writer) {
        writer.write_bool(true);
        ChangeMask mask;
        mask.reset(3);
        mask.set(0);
        mask.set(1);
        mask.set(2);
        write_change_mask(writer, mask, EmptySet::Impossible);
        writer.write_bits(3, 32);
        writer.write_packed_uint(1);
        writer.write_packed_uint(2);
        writer.write_bits('h' | 'i' << 8, 16);
    });
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    std::vector<Bytes> seeds;
    FuzzSeed many;
    for (std::uint64_t function = 0; function <= turret_function_count; ++function) {
        for (const Bytes& payload :
             {call_bytes(function), order_bytes(function, 5), full_order(function)}) {
            for (const std::uint8_t channel : {std::uint8_t{1}, std::uint8_t{2}}) {
                FuzzSeed seed;
                (void)add_bunch(seed, channel, is_reliable, payload);
                (void)add_bunch(seed, channel, 0, payload);
                seeds.push_back(seed.bytes);
            }
        }
    }
    for (std::uint32_t i = 0; i < 12; ++i) {
        (void)add_bunch(many, 1, i % 2 == 0 ? 0 : is_reliable, order_bytes(fire_index, i));
        many.number(time_passes, 1).number(i * 20, 1);
    }
    seeds.push_back(many.bytes);
    FuzzSeed parts;
    const std::uint8_t of_parts = is_reliable | is_part | is_filled;
    (void)add_bunch(parts, 1, of_parts | is_first_part, full_order(10));
    (void)add_bunch(parts, 1, of_parts, {});
    (void)add_bunch(parts, 1, is_reliable | is_part | is_last_part, {std::byte{0}});
    seeds.push_back(parts.bytes);
    FuzzSeed raw;
    const Bytes packet = PacketForge(9).make({call_bunch(1, 1, order_bytes(fire_index, 7))});
    PacketHeader header;
    const auto payload = std::span(packet).subspan(read_packet_header(packet, header));
    raw.number(raw_packet, 1).number(1, 1).number(payload.size(), 2).add(payload);
    seeds.push_back(raw.bytes);
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    FuzzInput input(data, size);
    Target target;
    for (std::size_t i = 0; i < steps_max && !input.is_empty(); ++i) {
        switch (input.byte() % how_count) {
            case raw_packet: {
                const bool has_bunches = (input.byte() & 1) != 0;
                target.take_packet(has_bunches, input.take(input.number(2)));
                break;
            }
            case one_bunch:
                target.take_bunch(read_bunch(input, target));
                break;
            default:
                target.pass(input.byte());
                break;
        }
    }
    target.finish();
    return 0;
}
