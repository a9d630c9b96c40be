// SPDX-License-Identifier: MIT
//
// Messages of the control channel, opens of objects, and the proof of an address. What is one of
// them is written again as the same bytes; what is none has told nothing.
#include <array>
#include <limits>

#include "address_handshake.h"
#include "control_message.h"
#include "fuzz/fuzz_target.h"
#include "layout_messages.h"
#include "open_message.h"
#include "stable_name.h"

namespace replayout::test {
namespace {

void require_same(std::span<const std::byte> left, std::span<const std::byte> right) {
    REQUIRE(std::equal(left.begin(), left.end(), right.begin(), right.end()));
}

[[nodiscard]] std::span<const std::byte> view(const Vector<std::byte>& bytes) {
    return {bytes.data(), bytes.size()};
}

void check_hello(std::span<const std::byte> message) {
    Hello hello;
    hello.layout_count = 77;
    if (!read_hello(message, hello)) {
        REQUIRE(hello.layout_count == 77);
        return;
    }
    if (hello.version != wire_version) {
        return;  // nothing more is known of it
    }
    Bytes copy(hello_bytes + hello.layout_ids.size());
    BitWriter writer(copy);
    write_hello(writer, hello);
    require_same(writer.bytes(), message);
    for (std::size_t i = 0; i < hello.layout_ids.size() / LayoutId::encoded_bytes; ++i) {
        (void)read_layout_id(hello.layout_ids, i);
    }
}

void check_layouts(std::span<const std::byte> message) {
    auto* const memory = std::pmr::get_default_resource();
    KnownLayout known;
    if (read_known_layout(message, known)) {
        require_same(view(known_layout_message(known, memory)), message);
    } else {
        REQUIRE(known.name.empty());
    }
    std::span<const std::byte> description;
    if (read_described_layout(message, description)) {
        require_same(view(described_layout_message(description, memory)), message);
    } else {
        REQUIRE(description.empty());
    }
}

void check_differences(std::span<const std::byte> message) {
    auto* const memory = std::pmr::get_default_resource();
    RefusedLayout refused;
    if (read_refused_layout(message, refused)) {
        require_same(view(refused_layout_message(refused, memory)), message);
    }
    ClassDifference difference;
    if (read_layout_difference(message, difference)) {
        REQUIRE(difference.difference.name.size() <= difference_text_bytes_max);
        (void)to_sentence(difference.difference);
    }
}

void check_destroyed(std::span<const std::byte> message) {
    BitReader objects({});
    if (!read_destruction_notice(message, objects)) {
        return;
    }
    Bytes copy(message.size() + 1'024);
    DestructionNoticeWriter writer(copy);
    while (objects.bits_left() > 0) {
        const DestroyedObject object = read_destroyed_object(objects);
        REQUIRE_FALSE(objects.failed());
        REQUIRE(object.stable_name.size() <= stable_name_bytes_max);
        REQUIRE(writer.add(object.guid, object.stable_name));
    }
    require_same(writer.bytes(), message);
}

void check_short(std::span<const std::byte> message) {
    Goodbye goodbye;
    if (read_goodbye(message, goodbye)) {
        require_same(GoodbyeMessage(goodbye).bytes(), message);
        REQUIRE_FALSE(to_string(goodbye.reason).empty());
    } else {
        REQUIRE(goodbye.reason == CloseReason::None);
    }
    if (read_welcome(message)) {
        require_same(welcome_message(), message);
    }
    std::uint32_t count = 77;
    if (read_initial_batch_started(message, count)) {
        require_same(InitialBatchStartedMessage(count).bytes(), message);
    } else {
        REQUIRE(count == 77);
    }
    if (read_initial_batch_finished(message)) {
        require_same(initial_batch_finished_message(), message);
    }
}

void check_open(std::span<const std::byte> message) {
    OpenMessage open;
    if (!read_open(message, open) ||
        open.layout_number > std::numeric_limits<std::uint32_t>::max()) {
        return;
    }
    SpawnRecord record(std::pmr::get_default_resource());
    encode_spawn_record(open.archetype, open.outer, open.parameters, record);
    const OpenPayload payload(open.guid, static_cast<std::uint32_t>(open.layout_number), open.role,
                              &record);
    require_same(payload.bytes(), message);
    REQUIRE(stable_name_of(record) == open.parameters.stable_name);
}

void check_address(std::span<const std::byte> datagram) {
    std::array<std::byte, address_request_bytes> room{};
    const auto handshake = read_address_handshake(datagram);
    const auto token = read_address_data_head(datagram);
    REQUIRE_FALSE((handshake.has_value() && token.has_value()));
    if (handshake) {
        require_same(write_address_handshake(*handshake, room), datagram);
        // Whatever is answered to whoever asks is smaller.
        REQUIRE((handshake->message != AddressMessage::Request ||
                 datagram.size() > address_answer_bytes_max));
    }
    if (token) {
        write_address_data_head(*token, room);
        require_same(std::span(room).first(address_data_head_bytes),
                     datagram.first(address_data_head_bytes));
    }
}

[[nodiscard]] Bytes open_seed(const SpawnParameters& parameters, std::uint32_t archetype,
                              std::uint64_t outer) {
    SpawnRecord record(std::pmr::get_default_resource());
    encode_spawn_record({archetype}, NetGUID{outer}, parameters, record);
    ObjectRole role;
    role.is_owned = archetype != 0;
    return to_bytes(OpenPayload(NetGUID{300}, 2, role, &record).bytes());
}

}  // namespace

std::vector<Bytes> fuzz_seeds() {
    auto* const memory = std::pmr::get_default_resource();
    std::vector<Bytes> seeds;
    const auto add = [&](std::span<const std::byte> bytes) { seeds.push_back(to_bytes(bytes)); };
    Hello hello;
    hello.schema = {1, 2};
    hello.layout_count = 2;
    const Bytes ids(2 * LayoutId::encoded_bytes, std::byte{7});
    hello.layout_ids = ids;
    for (const bool takes_layouts : {false, true}) {
        hello.takes_layouts = takes_layouts;
        Bytes bytes(hello_bytes + ids.size());
        BitWriter writer(bytes);
        write_hello(writer, hello);
        add(writer.bytes());
    }
    add(GoodbyeMessage({CloseReason::Requested, 0x1234}).bytes());
    add(welcome_message());
    add(view(known_layout_message({{3, 4}, "Pawn"}, memory)));
    add(view(described_layout_message(ids, memory)));
    add(view(refused_layout_message({0x1234, ids}, memory)));
    add(view(layout_difference_message({"Pawn", {LayoutAspect::Kind, "health", "int32", "int16"}},
                                       1'024, memory)));
    Bytes room(1'024);
    DestructionNoticeWriter destroyed(room);
    (void)destroyed.add(NetGUID{9}, "door");
    (void)destroyed.add(NetGUID{700}, "gr\xC3\xBCn");
    add(destroyed.bytes());
    add(InitialBatchStartedMessage(1'000).bytes());
    add(initial_batch_finished_message());
    SpawnParameters parameters;
    seeds.push_back(open_seed(parameters, 0, 0));
    parameters.stable_name = "door";
    parameters.location = Vector3{1, 2, 3};
    parameters.rotation = Quat{0, 0, 0, 1};
    seeds.push_back(open_seed(parameters, 5, 44));
    parameters.scale = Vector3{1, 1, 1};
    parameters.velocity = Vector3{0, -1, 0};
    seeds.push_back(open_seed(parameters, 5, 0));
    for (const AddressMessage message :
         {AddressMessage::Request, AddressMessage::Challenge, AddressMessage::Welcome}) {
        std::array<std::byte, address_request_bytes> bytes{};
        add(write_address_handshake({message, 0x1111, 0x2222}, bytes));
    }
    Bytes data(20);
    write_address_data_head(0x3333, data);
    seeds.push_back(data);
    return seeds;
}

}  // namespace replayout::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace replayout::test;
    const auto message = std::as_bytes(std::span(data, size));
    check_hello(message);
    check_differences(message);
    check_layouts(message);
    check_destroyed(message);
    check_short(message);
    check_open(message);
    check_address(message);
    return 0;
}
