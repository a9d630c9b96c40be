// SPDX-License-Identifier: MIT
//
// Messages of the control channel: which bytes are one, to the last of them.
#include "control_message.h"
#include "layout_messages.h"

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "support/checks/byte_dump.h"
#include "support/checks/catch.h"
#include "support/checks/exact_bytes.h"

namespace replayout::test {
namespace {

constexpr std::size_t id_count = 2;
constexpr std::size_t bytes_before_schema = 1 + 4 + 2;

/// One kind of message, and what says whether bytes are one of it.
struct ControlForm {
    const char* name;
    Bytes bytes;
    bool (*reads)(std::span<const std::byte> message);
    /// Whether the message is one as well that is cut there, or goes on with zeros up to there.
    bool (*may_have)(std::size_t bytes);
};

/// Ids for `id_count` layouts, of which `counted` are counted.
[[nodiscard]] Bytes control_hello(std::uint16_t version, std::uint32_t counted,
                                  bool takes_layouts) {
    const Bytes ids(id_count * LayoutId::encoded_bytes, std::byte{7});
    Hello hello;
    hello.version = version;
    hello.schema = {1, 2};
    hello.layout_count = counted;
    hello.layout_ids = ids;
    hello.takes_layouts = takes_layouts;
    Bytes bytes(hello_bytes + ids.size());
    BitWriter writer(bytes);
    write_hello(writer, hello);
    return bytes;
}

[[nodiscard]] Bytes notice_of(std::uint64_t guid, std::string_view name) {
    Bytes bytes(1 + 10 + 1 + name.size());
    BitWriter writer(bytes);
    writer.write_bits(static_cast<std::uint64_t>(ControlMessageKind::Destroyed), 8);
    writer.write_packed_uint(guid);
    writer.write_packed_uint(name.size());
    writer.write_bytes(std::as_bytes(std::span(name)));
    bytes.resize(writer.byte_count());
    return bytes;
}

bool reads_hello(std::span<const std::byte> message) {
    Hello hello;
    hello.layout_count = 77;
    const bool is_read = read_hello(message, hello);
    CHECK((is_read || hello.layout_count == 77));
    return is_read;
}

bool reads_goodbye(std::span<const std::byte> message) {
    Goodbye goodbye;
    const bool is_read = read_goodbye(message, goodbye);
    CHECK((is_read || goodbye.reason == CloseReason::None));
    return is_read;
}

bool reads_known_layout(std::span<const std::byte> message) {
    KnownLayout known;
    const bool is_read = read_known_layout(message, known);
    CHECK(is_read != known.name.empty());
    return is_read;
}

bool reads_described_layout(std::span<const std::byte> message) {
    std::span<const std::byte> description;
    const bool is_read = read_described_layout(message, description);
    CHECK(is_read != description.empty());
    return is_read;
}

bool reads_refused_layout(std::span<const std::byte> message) {
    RefusedLayout refused;
    refused.name_hash = 77;
    const bool is_read = read_refused_layout(message, refused);
    CHECK(is_read != (refused.name_hash == 77));
    return is_read;
}

bool reads_layout_difference(std::span<const std::byte> message) {
    ClassDifference difference;
    const bool is_read = read_layout_difference(message, difference);
    CHECK(is_read != difference.class_name.empty());
    return is_read;
}

bool reads_notice(std::span<const std::byte> message) {
    BitReader objects({});
    return read_destruction_notice(message, objects);
}

bool reads_initial_batch_started(std::span<const std::byte> message) {
    std::uint32_t count = 77;
    const bool is_read = read_initial_batch_started(message, count);
    CHECK((is_read || count == 77));
    return is_read;
}

[[nodiscard]] bool may_hello_have(std::size_t bytes) {
    return bytes >= hello_bytes && (bytes - hello_bytes) % LayoutId::encoded_bytes == 0 &&
           (bytes - hello_bytes) / LayoutId::encoded_bytes <= id_count;
}

[[nodiscard]] std::vector<ControlForm> control_forms() {
    auto* const memory = std::pmr::new_delete_resource();
    const Bytes description(5, std::byte{9});
    const auto known = known_layout_message({{3, 4}, "Pawn"}, memory);
    const auto described = described_layout_message(description, memory);
    const auto refused = refused_layout_message({0x1234, description}, memory);
    const auto difference = layout_difference_message(
        {"Pawn", {LayoutAspect::Kind, "health", "int32", "int16"}}, 1'024, memory);
    const std::size_t difference_bytes = difference.size();
    REQUIRE(difference_bytes == 2 + 1 + 4 + 1 + 6 + 1 + 5 + 1 + 5);
    return {
        {"refused layout", to_bytes(refused), reads_refused_layout,
         [](std::size_t bytes) { return bytes >= 1 + 4; }},
        {"layout difference", to_bytes(difference), reads_layout_difference,
         [](std::size_t bytes) { return bytes == 2 + 1 + 4 + 1 + 6 + 1 + 5 + 1 + 5; }},
        {"hello", control_hello(wire_version, id_count, false), reads_hello, may_hello_have},
        {"hello taking layouts", control_hello(wire_version, id_count, true), reads_hello,
         may_hello_have},
        {"welcome", to_bytes(welcome_message()), read_welcome,
         [](std::size_t bytes) { return bytes == 1; }},
        {"goodbye", to_bytes(GoodbyeMessage({CloseReason::Requested, 0x1234}).bytes()),
         reads_goodbye, [](std::size_t bytes) { return bytes == 1 + 1 + 4; }},
        {"known layout", to_bytes(known), reads_known_layout,
         [](std::size_t bytes) { return bytes > 1 + 16; }},
        {"described layout", to_bytes(described), reads_described_layout,
         [](std::size_t bytes) { return bytes > 1; }},
        {"destroyed", notice_of(9, "door"), reads_notice,
         [](std::size_t bytes) { return bytes == 1 || bytes == 1 + 1 + 1 + 4; }},
        {"initial batch started", to_bytes(InitialBatchStartedMessage(1'000).bytes()),
         reads_initial_batch_started, [](std::size_t bytes) { return bytes == 1 + 2; }},
        {"initial batch finished", to_bytes(initial_batch_finished_message()),
         read_initial_batch_finished, [](std::size_t bytes) { return bytes == 1; }},
    };
}

}  // namespace

TEST_CASE("Control message: its first byte says what it is, and nothing else does",
          "[netdriver][control_message]") {
    for (const ControlForm& form : control_forms()) {
        for (unsigned kind = 0; kind < 256; ++kind) {
            INFO(form.name << " with the kind " << kind);
            Bytes bytes = form.bytes;
            const bool is_hello = form.reads == reads_hello && (kind == 1 || kind == 4);
            const bool is_own = is_hello || bytes[0] == static_cast<std::byte>(kind);
            bytes[0] = static_cast<std::byte>(kind);
            CHECK(form.reads(bytes) == is_own);
        }
    }
}

TEST_CASE("Control message: none is read that is cut, or has a byte too many",
          "[netdriver][control_message]") {
    for (const ControlForm& form : control_forms()) {
        const std::size_t most = form.bytes.size() + 2 * LayoutId::encoded_bytes;
        for (std::size_t size = 0; size <= most; ++size) {
            INFO(form.name << " of " << size << " bytes");
            Bytes bytes = form.bytes;
            bytes.resize(size);
            CHECK(form.reads(ExactBytes(bytes).span()) == form.may_have(size));
        }
    }
}

TEST_CASE("Control message: a hello has no more ids than it counts, and may have less",
          "[netdriver][control_message]") {
    for (std::uint32_t counted = 0; counted < 5; ++counted) {
        INFO("counted " << counted);
        CHECK(reads_hello(control_hello(wire_version, counted, false)) == (counted >= id_count));
    }
}

TEST_CASE("Control message: a hello of another version is one, whatever follows its version",
          "[netdriver][control_message]") {
    constexpr std::uint16_t before = wire_version - 1;
    constexpr std::uint16_t behind = wire_version + 1;
    for (const std::uint16_t version : {std::uint16_t{0}, before, behind, std::uint16_t{0xFFFF}}) {
        const Bytes whole = control_hello(version, 0, true);
        for (std::size_t size = 0; size <= whole.size(); ++size) {
            INFO("version " << version << ", " << size << " bytes");
            Hello hello;
            const ExactBytes bytes{std::span(whole).first(size)};
            REQUIRE(read_hello(bytes.span(), hello) == (size >= bytes_before_schema));
            if (size >= bytes_before_schema) {
                CHECK(hello.version == version);
                CHECK(hello.schema == Digest128());  // where it lies there is not known
                CHECK(hello.layout_ids.empty());
            }
        }
    }
}

TEST_CASE("Control message: what was destroyed has an id, and a name",
          "[netdriver][control_message]") {
    CHECK(reads_notice(notice_of(1, "a")));
    CHECK_FALSE(reads_notice(notice_of(0, "a")));
    CHECK_FALSE(reads_notice(notice_of(1, "")));
    CHECK_FALSE(reads_notice(notice_of(1, "\xFF")));
}

}  // namespace replayout::test
