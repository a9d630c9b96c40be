// SPDX-License-Identifier: MIT
//
// Layouts of different versions of a class: what both have arrives, the rest stays at its default,
// and bytes that describe a layout are never trusted.
#include <replayout/layout_description.h>
#include <replayout/net_archive.h>
#include <replayout/receive_properties.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/caught_failure.h"
#include "support/checks/heap_count.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/replication/block_receiver.h"
#include "support/replication/block_sender.h"
#include "support/types/random_editor.h"
#include "support/types/test_layout.h"
#include "support/types/test_types.h"
#include "support/types/versioned_pawn.h"

namespace replayout {
namespace {

Result<std::unique_ptr<RepLayout>> make_compatible(
    TestLayout& local, const RepLayout& sender, LayoutPolicy policy = LayoutPolicy::SkipUnknown) {
    const auto description = describe_layout(sender, std::pmr::get_default_resource());
    return RepLayout::create_compatible(local.registry(), &*local,
                                        {description.data(), description.size()}, policy);
}

std::unique_ptr<RepLayout> compatible(TestLayout& local, const RepLayout& sender) {
    auto layout = make_compatible(local, sender);
    INFO((layout ? "" : layout.error().message));
    REQUIRE(layout);
    return *std::move(layout);
}

TEST_CASE("Compatible layouts: an older client shows what it shares with a newer server",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(newer::build);
    TestLayout client_layout(older::build);
    const auto layout = compatible(client_layout, *server_layout);
    CHECK(layout->is_receive_only());
    CHECK(layout->handle_count() == server_layout->handle_count());
    newer::Pawn server;
    fill(server);
    server.added = {1.0f, 0.0f, 0.0f, 0.0f};
    server.hits[1].cause = "a fall from the wall";
    server.hits[1].witnesses = {ObjectHandle{3}, ObjectHandle{4}};
    server.last_hit.witnesses = {ObjectHandle{4}};
    server.added_wounds.resize(3);
    server.added_secret.word = "hush";
    server.added_wound.emplace().source = ObjectHandle{4};
    BlockSender sender(*server_layout);
    REQUIRE(sender.update(&server));
    older::Pawn client;
    client.removed = 8;
    BlockReceiver receiver(*layout);
    receiver.package_map.bind(sender.package_map.guid_of(ObjectHandle{3}), ObjectHandle{3});
    receiver.package_map.bind(sender.package_map.guid_of(ObjectHandle{4}), ObjectHandle{4});
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(receiver.bits_left == 0);
    check_common(server, client);
    CHECK(client.removed == 8);
    CHECK_FALSE(client.hits[0].is_old);
    // Of what is skipped nothing is remembered either.
    CHECK(values_of(receiver.named).size() == 1);
    CHECK(client.calls == std::vector<std::string>{"health", "title", "hits"});

    // Changes, shrinking arrays and empty optional values too.
    client.calls.clear();
    server.hits.erase(server.hits.begin());
    server.hits[0].witnesses.clear();
    server.code.reset();
    server.added_wounds.clear();
    server.added_wound.reset();
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(1))));
    check_common(server, client);
    CHECK(client.calls == std::vector<std::string>{"hits"});

    // A block of nothing but unknown properties is read, and calls nothing.
    client.calls.clear();
    server.added_wounds.resize(1);
    REQUIRE(sender.update(&server));
    REQUIRE(receiver.receive(&client, sender.block(since(2))));
    check_common(server, client);
    CHECK(client.calls.empty());
}

TEST_CASE("Compatible layouts: a newer client shows what it shares with an older server",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(older::build);
    TestLayout client_layout(newer::build);
    const auto layout = compatible(client_layout, *server_layout);
    older::Pawn server;
    fill(server);
    server.removed = 99;
    server.hits[0].is_old = true;
    BlockSender sender(*server_layout);
    REQUIRE(sender.update(&server));
    newer::Pawn client;
    BlockReceiver receiver(*layout);
    receiver.package_map.bind(sender.package_map.guid_of(ObjectHandle{3}), ObjectHandle{3});
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    check_common(server, client);
    CHECK(client.scores[3] == 0);
    CHECK(client.hits[1].cause.empty());
    CHECK(client.added == Quat());
    // In the order of the client's declaration, not the server's.
    CHECK(client.calls == std::vector<std::string>{"hits", "title", "health"});
}

TEST_CASE("Compatible layouts: references bind by the sender's handles",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(newer::build);
    TestLayout client_layout(older::build);
    const auto layout = compatible(client_layout, *server_layout);
    newer::Pawn server;
    server.target = ObjectHandle{3};
    server.added_wounds.resize(2);
    server.added_wounds[1].source = ObjectHandle{3};
    BlockSender sender(*server_layout);
    REQUIRE(sender.update(&server));
    older::Pawn client;
    BlockReceiver receiver(*layout);
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.target.is_null());
    CHECK(receiver.rebind(&client, NetGUID{1}, ObjectHandle{30}) == 1);
    CHECK(client.target == ObjectHandle{30});
    CHECK(receiver.rebind(&client, NetGUID{1}, ObjectHandle{}) == 1);
    CHECK(client.target.is_null());
}

TEST_CASE("Compatible layouts: each difference is told in a sentence",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(newer::build);
    TestLayout client_layout(older::build);
    const auto layout = compatible(client_layout, *server_layout);
    const auto told = [&](const std::string& sentence) {
        const auto diagnostics = layout->diagnostics();
        return std::find(diagnostics.begin(), diagnostics.end(),
                         "layout of \"Pawn\": " + sentence) != diagnostics.end();
    };
    CHECK(told("\"added_wounds\" of the sender is not the same here, and is skipped"));
    CHECK(told("\"hits[].cause\" of the sender is not the same here, and is skipped"));
    CHECK(told("\"numbers\" of the sender is not the same here, and is skipped"));
    CHECK(told("\"scores[3]\" of the sender is not the same here, and is skipped"));
    CHECK(told("\"removed\" is not sent like this, and keeps its default"));
    CHECK(told("\"hits[].is_old\" is not sent like this, and keeps its default"));
    CHECK(told("\"place\" is not sent like this, and keeps its default"));
    CHECK_FALSE(told("\"health\" is not sent like this, and keeps its default"));
}

TEST_CASE("Compatible layouts: a dump names what is skipped as the sender does, and no fingerprint",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(newer::build);
    TestLayout client_layout(older::build);
    const auto layout = compatible(client_layout, *server_layout);
    const std::string text = dump(*layout);
    INFO(text);
    CHECK(text.starts_with("layout of Pawn, " + std::to_string(layout->handle_count()) +
                           " handles, receive-only\n"));
    CHECK(text.find("   added_wounds skipped\n") != std::string::npos);
    CHECK(text.find("   scores[3] skipped\n") != std::string::npos);
    CHECK(text.find("   cause skipped\n") != std::string::npos);
    CHECK(text.find("   health shared\n") != std::string::npos);
    CHECK(text.find("whole blocks") == std::string::npos);
}

TEST_CASE("Compatible layouts: of what is not skipped nobody may ask the sender's name",
          "[replayout][compatible_layout]") {
    if (REPLAYOUT_ASSERTIONS == 0) {
        return;  // nobody refuses it then
    }
    const TestLayout server_layout(newer::build);
    TestLayout client_layout(older::build);
    const auto layout = compatible(client_layout, *server_layout);
    const CmdIndex last{static_cast<std::uint16_t>(layout->cmds().size() - 1)};
    CHECK(test::failure_in([&] { (void)layout->skipped_name(last); }) != "");
}

TEST_CASE("Compatible layouts: under Refuse any difference is an error that names it",
          "[replayout][compatible_layout]") {
    const TestLayout newer_layout(newer::build);
    TestLayout older_layout(older::build);
    CHECK(make_compatible(older_layout, *older_layout, LayoutPolicy::Refuse));
    const auto refused = make_compatible(older_layout, *newer_layout, LayoutPolicy::Refuse);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::IncompatibleLayout);
    CHECK(refused.error().message.find("\"hits[].cause\"") != std::string::npos);
    const TestLayout beacon(build_beacon);
    const auto other = make_compatible(older_layout, *beacon);
    REQUIRE_FALSE(other);
    CHECK(other.error().code == ErrorCode::IncompatibleLayout);
}

TEST_CASE("Compatible layouts: values that may be larger than ours are skipped",
          "[replayout][compatible_layout]") {
    RepLayoutOptions smaller;
    smaller.limits = {16, 8};
    RepLayoutOptions larger;
    larger.limits = {32, 9};
    TestLayout client_layout(build_ledger, smaller);
    const TestLayout larger_layout(build_ledger, larger);
    const TestLayout smaller_layout(build_ledger, smaller);
    const auto skipped_count = [](const RepLayout& layout) {
        std::size_t count = 0;
        for (std::uint32_t handle = 1; handle <= layout.handle_count(); ++handle) {
            const RepLayoutCmd& cmd = layout.cmd(layout.cmd_of(layout.root(), RepHandle{handle}));
            count += has_flag(cmd.flags, RepLayoutCmdFlags::IsSkipped) ? 1u : 0u;
        }
        return count;
    };
    CHECK(skipped_count(*compatible(client_layout, *smaller_layout)) == 0);
    CHECK(skipped_count(*compatible(client_layout, *larger_layout)) == 5);  // all but the page
    Ledger server;
    server.page = 3;
    server.lines = {std::string(30, 'x')};
    BlockSender sender(*larger_layout);
    REQUIRE(sender.update(&server));
    const auto layout = compatible(client_layout, *larger_layout);
    BlockReceiver receiver(*layout);
    Ledger client;
    REQUIRE(receiver.receive(&client, sender.block(since(0))));
    CHECK(client.page == 3);
    CHECK(client.lines.empty());
}

TEST_CASE("Compatible layouts: of a class that is not known all is read and thrown away",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(newer::build);
    TestLayout other(build_soldier);  // knows Aim and Secret
    const auto description = describe_layout(*server_layout, std::pmr::get_default_resource());
    const auto layout = RepLayout::create_compatible(other.registry(), nullptr,
                                                     {description.data(), description.size()},
                                                     LayoutPolicy::SkipUnknown);
    REQUIRE(layout);
    CHECK((*layout)->name() == "Pawn");
    newer::Pawn server;
    fill(server);
    server.added_secret.word = "hush";
    BlockSender sender(*server_layout);
    REQUIRE(sender.update(&server));
    const Bytes block = sender.block(since(0));
    BlockReceiver receiver(**layout);
    DecodeBudget budget;
    BitReader reader(block, &budget);
    ReceiveContext context = receiver.context();
    context.must_fill_reader = true;
    CHECK(skip_properties(**layout, reader, context));
    const std::span<const std::byte> cut(block.data(), block.size() - 1);
    BitReader shorter(cut, &budget);
    CHECK_FALSE(skip_properties(**layout, shorter, context));
}

TEST_CASE("Compatible layouts: a NetSerializer that is not known makes them incompatible",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(newer::build);
    TestLayout client_layout(build_beacon);
    const auto description = describe_layout(*server_layout, std::pmr::get_default_resource());
    const auto layout = RepLayout::create_compatible(client_layout.registry(), nullptr,
                                                     {description.data(), description.size()},
                                                     LayoutPolicy::SkipUnknown);
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::IncompatibleLayout);
    CHECK(layout.error().message.find("\"aim\"") != std::string::npos);
    CHECK(layout.error().message.find("\"Aim\"") != std::string::npos);
}

TEST_CASE("Compatible layouts: two leaves that cannot be told apart are both skipped",
          "[replayout][compatible_layout]") {
    TestLayout local(build_beacon);
    const auto original = describe_layout(*local, std::pmr::get_default_resource());
    // The second leaf (int8, form 2) behind the first (bool): give both one checksum.
    Bytes bytes(original.begin(), original.end());
    const std::uint32_t first = local.cmd(1).checksum;
    const std::uint32_t second = local.cmd(2).checksum;
    const auto place_of = [&](std::uint32_t checksum) {
        for (std::size_t i = 0; i + 4 <= bytes.size(); ++i) {
            std::uint32_t found = 0;
            for (std::size_t byte = 0; byte < 4; ++byte) {
                found |= std::to_integer<std::uint32_t>(bytes[i + byte]) << (8 * byte);
            }
            if (found == checksum) {
                return i;
            }
        }
        FAIL("no such checksum");
        return std::size_t{0};
    };
    const std::size_t from = place_of(first);
    const std::size_t to = place_of(second);
    for (std::size_t byte = 0; byte < 4; ++byte) {
        bytes[to + byte] = bytes[from + byte];
    }
    const auto layout =
        RepLayout::create_compatible(local.registry(), &*local, bytes, LayoutPolicy::SkipUnknown);
    REQUIRE(layout);
    const auto is_skipped = [&](std::uint32_t handle) {
        return has_flag(
            (*layout)->cmd((*layout)->cmd_of((*layout)->root(), RepHandle{handle})).flags,
            RepLayoutCmdFlags::IsSkipped);
    };
    CHECK(is_skipped(1));
    CHECK(is_skipped(2));
    CHECK_FALSE(is_skipped(3));
}

/// Reads a real block, and some that are not, with a layout made of strange bytes.
template <typename T>
void read_with(const RepLayout& layout, const Bytes& block, test::SeededRandom& random) {
    BlockReceiver receiver(layout);
    T object;
    (void)receiver.receive(&object, block);
    Bytes noise(40);
    for (std::byte& byte : noise) {
        byte = static_cast<std::byte>(random.below(256));
    }
    (void)receiver.receive(&object, noise);
    ReceiveContext context = receiver.context();
    DecodeBudget budget;
    BitReader reader(block, &budget);
    (void)skip_properties(layout, reader, context);
}

template <typename T>
void check_hostile_descriptions(BuildType build, test::SeededRandom& random) {
    TestLayout local(build);
    T server;
    std::mt19937_64 edits(random.bits());
    for (int edit = 0; edit < 200; ++edit) {
        RandomEditor(edits, 4).edit(local->type(), &server);
    }
    const auto original = describe_layout(*local, std::pmr::get_default_resource());
    BlockSender sender(*local);
    REQUIRE(sender.update(&server));
    const Bytes block = sender.block(since(0));
    std::uint64_t made = 0;
    std::uint64_t refused = 0;
    const auto try_bytes = [&](std::span<const std::byte> bytes) {
        const auto layout = RepLayout::create_compatible(local.registry(), &*local, bytes,
                                                         LayoutPolicy::SkipUnknown);
        if (!layout) {
            ++refused;
            const ErrorCode code = layout.error().code;
            REQUIRE(
                (code == ErrorCode::MalformedDescription || code == ErrorCode::IncompatibleLayout));
            return false;
        }
        ++made;
        read_with<T>(**layout, block, random);
        return true;
    };
    for (std::size_t size = 0; size < original.size(); ++size) {
        REQUIRE_FALSE(try_bytes(std::span(original.data(), size)));
    }
    for (std::size_t bit = 0; bit < original.size() * 8; ++bit) {
        Bytes flipped(original.begin(), original.end());
        flipped[bit / 8] ^= std::byte{1} << (bit % 8);
        (void)try_bytes(flipped);
    }
    CHECK(made > 0);
    CHECK(refused > original.size());
}

TEST_CASE("Compatible layouts: hostile descriptions are refused, or safe to read with",
          "[replayout][compatible_layout]") {
    const std::uint64_t seed = run_seed();
    INFO("seed " << seed);
    test::SeededRandom random(seed);
    check_hostile_descriptions<newer::Pawn>(newer::build, random);
    check_hostile_descriptions<Drone>(build_drone, random);
    check_hostile_descriptions<Ledger>(build_ledger, random);
}

/// A description of one class with one leaf.
Bytes describe_leaf(std::uint32_t array_count_max,
                    const std::function<void(BitWriter&)>& write_leaf) {
    Bytes memory(4'096);
    BitWriter writer(memory);
    writer.write_bits(layout_description_version, 8);
    writer.write_packed_uint(1);
    writer.write_bits('T', 8);
    writer.write_packed_uint(64);
    writer.write_packed_uint(array_count_max);
    write_leaf(writer);
    writer.write_bits(0, 8);
    return to_bytes(writer.bytes());
}

void write_leaf_head(BitWriter& writer, std::uint8_t form) {
    writer.write_bits(form, 8);
    writer.write_bits(0x1234, 32);
    writer.write_packed_uint(0);
}

TEST_CASE("Compatible layouts: descriptions that no layout has are malformed",
          "[replayout][compatible_layout]") {
    TestLayout local(build_beacon);
    const auto code_of = [&](const Bytes& bytes) {
        const auto layout = RepLayout::create_compatible(local.registry(), nullptr, bytes,
                                                         LayoutPolicy::SkipUnknown);
        return layout ? ErrorCode::Ok : layout.error().code;
    };
    const auto nested = [&](std::uint32_t depth, std::uint32_t count_max) {
        return describe_leaf(count_max, [&](BitWriter& writer) {
            for (std::uint32_t i = 0; i < depth; ++i) {
                write_leaf_head(writer, 11);
            }
            write_leaf_head(writer, 2);
            for (std::uint32_t i = 0; i < depth; ++i) {
                writer.write_bits(0, 8);
            }
        });
    };
    CHECK(code_of(nested(1, 1'048'576)) == ErrorCode::Ok);
    CHECK(code_of(nested(1, 1'048'577)) == ErrorCode::MalformedDescription);
    CHECK(code_of(nested(nesting_depth_max, 4)) == ErrorCode::Ok);
    CHECK(code_of(nested(nesting_depth_max + 1, 4)) == ErrorCode::MalformedDescription);
    CHECK(code_of(nested(200, 4)) == ErrorCode::MalformedDescription);
    CHECK(code_of(describe_leaf(4, [](BitWriter& writer) {
              write_leaf_head(writer, 12);
              writer.write_bits(0, 8);
          })) == ErrorCode::MalformedDescription);
    CHECK(code_of(describe_leaf(4, [](BitWriter& writer) { write_leaf_head(writer, 14); })) ==
          ErrorCode::MalformedDescription);
    const auto steps = [&](std::uint64_t count) {
        return describe_leaf(4, [&](BitWriter& writer) {
            write_leaf_head(writer, 13);
            writer.write_bits(6, 8);
            writer.write_bits(std::bit_cast<std::uint64_t>(0.0), 64);
            writer.write_bits(std::bit_cast<std::uint64_t>(1.0), 64);
            writer.write_bits(count, 64);
        });
    };
    CHECK(code_of(steps(10)) == ErrorCode::Ok);
    CHECK(code_of(steps(0)) == ErrorCode::MalformedDescription);
    CHECK(code_of(steps(std::uint64_t{1} << 32)) == ErrorCode::MalformedDescription);
    CHECK(described_name(steps(10)) == "T");
    CHECK(described_name({}).empty());
    Bytes other_version = steps(10);
    other_version[0] = std::byte{2};
    CHECK(code_of(other_version) == ErrorCode::MalformedDescription);
    CHECK(described_name(other_version).empty());
}

struct Lamp {
    std::int32_t power = 0;
};
[[nodiscard]] Result<const Type*> build_lamp(TypeRegistry& registry) {
    return class_builder<Lamp>(registry, "Lamp").property<&Lamp::power>().build();
}

/// Of a "Lamp": an array with a long name that is not known here, of as many leaves as fit; or the
/// same leaves on their own.
[[nodiscard]] Bytes describe_many_leaves(bool is_array) {
    Bytes bytes(65'536);
    BitWriter writer(bytes);
    const std::string name(32'000, 'x');
    writer.write_bits(1, 8);
    writer.write_packed_uint(4);
    writer.write_bytes(std::as_bytes(std::span("Lamp", 4)));
    writer.write_packed_uint(16);
    writer.write_packed_uint(1);
    if (is_array) {
        writer.write_bits(11, 8);
        writer.write_bits(7, 32);
        writer.write_packed_uint(name.size());
        writer.write_bytes(std::as_bytes(std::span(name.data(), name.size())));
    }
    while (writer.bits_left() > 12 * 8) {
        writer.write_bits(2, 8);
        writer.write_bits(9, 32);
        writer.write_packed_uint(0);
    }
    writer.write_bits(0, 8);
    if (is_array) {
        writer.write_bits(0, 8);
    }
    REQUIRE(!writer.overflowed());
    return to_bytes(writer.bytes());
}

TEST_CASE("Compatible layouts: a description takes memory in proportion to its bytes",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_lamp);
    for (const bool is_array : {true, false}) {
        INFO("an array: " << is_array);
        const Bytes description = describe_many_leaves(is_array);
        const std::uint64_t before = heap_bytes_taken();
        const auto layout = RepLayout::create_compatible(local->registry(), &*local, description,
                                                         LayoutPolicy::SkipUnknown);
        const std::uint64_t taken = heap_bytes_taken() - before;
        REQUIRE(layout);
        CAPTURE(taken, description.size());
        CHECK(taken < 256 * description.size());
        std::size_t told_bytes = 0;
        for (const std::string& sentence : (*layout)->diagnostics()) {
            told_bytes += sentence.size();
        }
        CHECK(told_bytes < 16'384);
        CHECK((*layout)->diagnostics().size() == (is_array ? 2u : 65u));
    }
}

TEST_CASE("Compatible layouts: of many differences the first are told, and how many more there are",
          "[replayout][compatible_layout]") {
    const TestLayout local(build_lamp);
    const Bytes description = describe_many_leaves(false);
    const auto layout = RepLayout::create_compatible(local->registry(), &*local, description,
                                                     LayoutPolicy::SkipUnknown);
    REQUIRE(layout);
    // One for each leaf of the sender, and one for "power", which it does not send.
    const std::size_t count = (*layout)->root().handle_count + 1;
    CHECK((*layout)->diagnostics().back() ==
          "layout of \"Lamp\": and " + std::to_string(count - 64) + " more differences");
}

TEST_CASE("Compatible layouts: under Refuse a class that is not known is an error",
          "[replayout][compatible_layout]") {
    const TestLayout server_layout(build_lamp);
    const TestLayout other(build_ledger);
    const auto description = describe_layout(*server_layout, std::pmr::get_default_resource());
    const auto layout = RepLayout::create_compatible(
        other->registry(), nullptr, {description.data(), description.size()}, LayoutPolicy::Refuse);
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::IncompatibleLayout);
    CHECK(layout.error().message == "layout of \"Lamp\": the class is not known here");
}

TEST_CASE("Compatible layouts: under Refuse lower limits of the sender are a difference, too",
          "[replayout][compatible_layout]") {
    RepLayoutOptions lower;
    lower.limits = {16, 8};
    TestLayout local(build_ledger);
    const TestLayout server_layout(build_ledger, lower);
    CHECK(make_compatible(local, *server_layout));
    const auto layout = make_compatible(local, *server_layout, LayoutPolicy::Refuse);
    REQUIRE_FALSE(layout);
    CHECK(layout.error().code == ErrorCode::IncompatibleLayout);
    CHECK(layout.error().message == "layout of \"Ledger\": order or limits are not the sender's");
}

}  // namespace
}  // namespace replayout
