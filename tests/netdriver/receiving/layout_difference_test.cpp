// SPDX-License-Identifier: MIT
//
// Two ends with different layouts of one class: the log of each names the first difference.
#include <replayout/layout_difference.h>
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/simulated_network.h>
#include <replayout/reflection/dynamic_type_builder.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/log_spy.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/worlds/test_world.h"

namespace replayout::test {
namespace {

struct Field {
    std::string name;
    PropertyKind kind = PropertyKind::Int32;  // DynamicArray: of u32
    Quantisation quantisation{};
};

struct ClassSpec {
    std::vector<Field> fields;
    RepLimits limits{};
    FunctionFlags fire = FunctionFlags::None;  // None: it has no such function
};

constexpr std::uint32_t slot_bytes = 32;
constexpr std::uint32_t slot_count = 16;

struct Slots {
    alignas(8) std::byte bytes[slot_bytes * slot_count]{};
};

/// An object of a spec, as it is when it is fresh.
struct Archetype {
    explicit Archetype(const ClassSpec& class_spec) : spec(class_spec) {
        for_each([](PropertyKind kind, std::byte* slot) {
            if (kind == PropertyKind::String) {
                std::construct_at(reinterpret_cast<std::string*>(slot));
            } else if (kind == PropertyKind::DynamicArray) {
                std::construct_at(reinterpret_cast<std::vector<std::uint32_t>*>(slot));
            }
        });
    }
    ~Archetype() {
        for_each([](PropertyKind kind, std::byte* slot) {
            if (kind == PropertyKind::String) {
                std::destroy_at(reinterpret_cast<std::string*>(slot));
            } else if (kind == PropertyKind::DynamicArray) {
                std::destroy_at(reinterpret_cast<std::vector<std::uint32_t>*>(slot));
            }
        });
    }
    Archetype(const Archetype&) = delete;
    Archetype& operator=(const Archetype&) = delete;

    template <typename Visit>
    void for_each(const Visit& visit) {
        for (std::size_t i = 0; i < spec.fields.size(); ++i) {
            visit(spec.fields[i].kind, slots.bytes + i * slot_bytes);
        }
    }

    const ClassSpec& spec;
    Slots slots;
};

/// A class "Soldier" of those fields, and its layout.
class SpecLayout {
  public:
    explicit SpecLayout(const ClassSpec& spec) {
        DynamicTypeBuilder builder(registry_, TypeKind::Class, "Soldier", sizeof(Slots), 8);
        std::uint32_t offset = 0;
        for (const Field& field : spec.fields) {
            if (field.kind == PropertyKind::String) {
                builder.property(string_property<std::string>(field.name, offset));
            } else if (field.kind == PropertyKind::DynamicArray) {
                builder.property(array_property<std::vector<std::uint32_t>>(
                    field.name, plain_property("", PropertyKind::UInt32), offset));
            } else {
                builder.property(field.name, field.kind, offset);
            }
            if (field.quantisation) {
                builder.quantised(field.quantisation);
            }
            offset += slot_bytes;
        }
        if (spec.fire != FunctionFlags::None) {
            builder.function("fire", spec.fire, nullptr, {[](void*, const void*, void*) {}});
        }
        const Result<const Type*> type = builder.build();
        INFO((type ? "" : type.error().message));
        REQUIRE(type);
        REQUIRE(registry_.freeze());
        RepLayoutOptions options;
        options.limits = spec.limits;
        const Archetype archetype(spec);
        options.archetype = &archetype.slots;
        Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry_, **type, options);
        INFO((layout ? "" : layout.error().message));
        REQUIRE(layout);
        layout_ = std::move(*layout);
    }

    [[nodiscard]] const RepLayout& operator*() const noexcept { return *layout_; }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
};

[[nodiscard]] ClassSpec soldier() {
    ClassSpec spec;
    spec.fields = {{"health", PropertyKind::Int32},
                   {"name", PropertyKind::String},
                   {"ammo", PropertyKind::UInt16},
                   {"marks", PropertyKind::DynamicArray},
                   {"level", PropertyKind::Int32, Quantisation::range(0, 100)}};
    spec.fire = FunctionFlags::Server;
    return spec;
}

[[nodiscard]] LayoutDifference difference_of(const ClassSpec& here, const ClassSpec& there) {
    const SpecLayout ours(here);
    const SpecLayout theirs(there);
    const auto explanation = explain_layout(*theirs, std::pmr::get_default_resource());
    const auto found = find_layout_difference(*ours, {explanation.data(), explanation.size()});
    REQUIRE(found);
    return *found;
}

/// What both ends log when a client with `there` connects to a server with `here`. Null: without
/// the class.
struct Logs {
    std::vector<std::string> server;
    std::vector<std::string> client;
};
[[nodiscard]] Logs logs_of(const ClassSpec* server_spec, const ClassSpec* client_spec,
                           double loss = 0.0, LayoutPolicy policy = LayoutPolicy::Refuse,
                           std::uint64_t seed = 1) {
    SimulatedNetworkSettings link;
    link.link.loss = loss;
    SimulatedNetwork network(link, seed, std::pmr::get_default_resource());
    TestWorld world(1);
    NetDriverSettings settings;
    settings.may_leave_out_texts = true;
    NetDriver server(settings, network.endpoint(PeerId{1}), world);
    settings.layout_policy = policy;
    NetDriver client(settings, network.endpoint(PeerId{2}), world);
    std::vector<std::unique_ptr<SpecLayout>> layouts;
    const auto add = [&](NetDriver& driver, const ClassSpec* spec) {
        if (spec != nullptr) {
            layouts.push_back(std::make_unique<SpecLayout>(*spec));
            REQUIRE(driver.add_layout(**layouts.back()));
        }
    };
    add(server, server_spec);
    add(client, client_spec);
    REQUIRE(server.listen());
    NetTime now = NetTime::from_milliseconds(-5'000);
    const LogSpy spy(LogLevel::Warning);
    REQUIRE(client.connect(PeerId{1}, now));
    Logs logs;
    std::size_t seen = 0;
    const auto sort_lines = [&](std::vector<std::string>& lines) {
        for (; seen < LogSpy::messages().size(); ++seen) {
            lines.push_back(LogSpy::messages()[seen]);
        }
    };
    for (int i = 0; i < 400; ++i) {
        now = now.plus_milliseconds(20);
        network.advance(now);
        for (NetDriver* driver : {&server, &client}) {
            driver->tick_dispatch(now);
            driver->tick_flush(now);
            sort_lines(driver == &server ? logs.server : logs.client);
        }
    }
    if (loss == 0.0) {
        CHECK(client.close_reason() == CloseReason::LayoutMismatch);
        CHECK(client.state() == ConnectionState::Closed);
    }
    CHECK(server.connection_count() == 0);
    return logs;
}

[[nodiscard]] bool has_line(const std::vector<std::string>& lines, const std::string& text) {
    return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
        return line.find(text) != std::string::npos;
    });
}

}  // namespace

TEST_CASE("Layout difference: each kind of difference is named on both ends",
          "[netdriver][layout_difference]") {
    struct Case {
        const char* server_line;
        const char* client_line;
        void (*edit)(ClassSpec& client);
    };
    const Case cases[] = {
        {"property \"health\": int32 here, int16 there",
         "property \"health\": int16 here, int32 there",
         [](ClassSpec& spec) { spec.fields[0].kind = PropertyKind::Int16; }},
        {"property \"health\": int32 here, float there",
         "property \"health\": float here, int32 there",
         [](ClassSpec& spec) { spec.fields[0].kind = PropertyKind::Float; }},
        {"property \"ammo\" is missing there", "property \"ammo\" is missing here",
         [](ClassSpec& spec) { spec.fields.erase(spec.fields.begin() + 2); }},
        {"property \"armour\" is missing here", "property \"armour\" is missing there",
         [](ClassSpec& spec) {
             spec.fields.push_back({"armour", PropertyKind::Float});
         }},
        {"property \"ammo\" here has the place of property \"shells\" there",
         "property \"shells\" here has the place of property \"ammo\" there",
         [](ClassSpec& spec) { spec.fields[2].name = "shells"; }},
        {"the order of properties: \"health\" here comes where \"name\" does there",
         "the order of properties: \"name\" here comes where \"health\" does there",
         [](ClassSpec& spec) { std::swap(spec.fields[0], spec.fields[1]); }},
        {"property \"level\": quantisation 0 to 100 here, 0 to 50 there",
         "property \"level\": quantisation 0 to 50 here, 0 to 100 there",
         [](ClassSpec& spec) { spec.fields[4].quantisation = Quantisation::range(0, 50); }},
        {"property \"level\": quantisation 0 to 100 here, none there",
         "property \"level\": quantisation none here, 0 to 100 there",
         [](ClassSpec& spec) { spec.fields[4].quantisation = {}; }},
        {"property \"name\": text limit (RepLimits::string_bytes_max) 1024 here, 32 there",
         "property \"name\": text limit (RepLimits::string_bytes_max) 32 here, 1024 there",
         [](ClassSpec& spec) { spec.limits.string_bytes_max = 32; }},
        {"property \"marks\": array limit (RepLimits::array_count_max) 2048 here, 16 there",
         "property \"marks\": array limit (RepLimits::array_count_max) 16 here, 2048 there",
         [](ClassSpec& spec) { spec.limits.array_count_max = 16; }},
        {"function \"fire\": server with no parameters here, server reliable with no parameters "
         "there",
         "function \"fire\": server reliable with no parameters here, server with no parameters "
         "there",
         [](ClassSpec& spec) { spec.fire = FunctionFlags::Server | FunctionFlags::Reliable; }},
        {"function \"fire\" is missing there", "function \"fire\" is missing here",
         [](ClassSpec& spec) { spec.fire = FunctionFlags::None; }},
    };
    for (const Case& each : cases) {
        INFO(each.server_line);
        const ClassSpec server = soldier();
        ClassSpec client = soldier();
        each.edit(client);
        const Logs logs = logs_of(&server, &client);
        REQUIRE(logs.server.size() == 2);
        REQUIRE(logs.client.size() == 1);
        CHECK(logs.server[1] ==
              std::string("peer 2 has another layout of class \"Soldier\": ") + each.server_line);
        CHECK(has_line(logs.client, std::string("the connection of peer 1 was closed: layout "
                                                "mismatch, class \"Soldier\": ") +
                                        each.client_line));
    }
}

TEST_CASE("Layout difference: a client that takes layouts is refused with the difference, too",
          "[netdriver][layout_difference]") {
    const ClassSpec server = soldier();
    ClassSpec client = soldier();
    client.fields[0].kind = PropertyKind::Int16;
    // The server's own policy is to refuse, so it describes nothing.
    const Logs logs = logs_of(&server, &client, 0.0, LayoutPolicy::SkipUnknown);
    CHECK(has_line(logs.server, "property \"health\": int32 here, int16 there"));
    CHECK(has_line(logs.client, "property \"health\": int16 here, int32 there"));
}

TEST_CASE(
    "Layout difference: who acknowledges nothing is sent no explanation, however often it asks",
    "[netdriver][layout_difference][hostile]") {
    ClassSpec server_spec;
    for (std::uint32_t i = 0; i < slot_count; ++i) {
        server_spec.fields.push_back({"a_property_with_a_long_name_" + std::to_string(i)});
    }
    const SpecLayout server_layout(server_spec);
    const SpecLayout client_layout(soldier());
    for (const bool is_answered : {false, true}) {
        SimulatedNetwork network({}, 1, std::pmr::get_default_resource());
        TestWorld world(1);
        NetDriverSettings settings;
        settings.may_leave_out_texts = true;
        NetDriver server(settings, network.endpoint(PeerId{1}), world);
        NetDriver client(settings, network.endpoint(PeerId{2}), world);
        REQUIRE(server.add_layout(*server_layout));
        REQUIRE(client.add_layout(*client_layout));
        REQUIRE(server.listen());
        LinkSettings dead;
        dead.loss = is_answered ? 0.0 : 1.0;
        network.set_settings(PeerId{1}, PeerId{2}, dead);
        const LogSpy spy(LogLevel::Warning);
        NetTime now;
        REQUIRE(client.connect(PeerId{1}, now));
        for (int i = 0; i < 400; ++i) {
            now = now.plus_milliseconds(20);
            network.advance(now);
            for (NetDriver* driver : {&server, &client}) {
                driver->tick_dispatch(now);
                driver->tick_flush(now);
            }
            if (!is_answered) {
                // Less than it cost whoever said hello in the name of another.
                REQUIRE(server.stats().bytes_sent <= client.stats().bytes_sent);
                REQUIRE(server.stats().bunches_sent == 0);
            }
        }
        CHECK((server.stats().bunches_sent > 0) == is_answered);
        CHECK((client.close_reason() == CloseReason::LayoutMismatch) == is_answered);
    }
}

TEST_CASE("Layout difference: a class that one end lacks is named on both ends",
          "[netdriver][layout_difference]") {
    const ClassSpec spec = soldier();
    const Logs of_server = logs_of(&spec, nullptr);
    CHECK(has_line(of_server.client,
                   "class \"Soldier\": the class is missing here: call add_layout() here, too"));
    CHECK(has_line(of_server.server,
                   "class \"Soldier\": the class is missing there: call add_layout() there, too"));
    const Logs of_client = logs_of(nullptr, &spec);
    CHECK(has_line(of_client.client,
                   "class \"Soldier\": the class is missing there: call add_layout() there, too"));
    CHECK(has_line(of_client.server,
                   "class \"Soldier\": the class is missing here: call add_layout() here, too"));
}

TEST_CASE("Layout difference: of layouts that differ by one random edit both ends name that edit",
          "[netdriver][layout_difference][random]") {
    const PropertyKind kinds[] = {
        PropertyKind::Bool,   PropertyKind::Int16,  PropertyKind::Int32,
        PropertyKind::UInt32, PropertyKind::Float,  PropertyKind::Double,
        PropertyKind::Vector, PropertyKind::String, PropertyKind::DynamicArray};
    for (std::uint64_t seed = run_seed(), end = seed + 60; seed < end; ++seed) {
        SeededRandom random(seed);
        ClassSpec server;
        const std::uint32_t count = random.between(2, slot_count - 2);
        for (std::uint32_t i = 0; i < count; ++i) {
            server.fields.push_back({"property" + std::to_string(i), random.pick(kinds)});
        }
        ClassSpec client = server;
        const std::uint32_t place = random.below(count);
        Field& edited = client.fields[place];
        const std::string name = edited.name;
        LayoutAspect aspect = LayoutAspect::Kind;
        switch (random.below(4)) {
            case 0: {
                const PropertyKind before = edited.kind;
                while (edited.kind == before) {
                    edited.kind = random.pick(kinds);
                }
                break;
            }
            case 1:
                aspect = LayoutAspect::Presence;
                client.fields.erase(client.fields.begin() + place);
                break;
            case 2:
                aspect = LayoutAspect::Name;
                edited.name = "other";
                break;
            default:
                aspect = LayoutAspect::Quantisation;
                edited.kind = server.fields[place].kind = PropertyKind::Int32;
                edited.quantisation = Quantisation::range(0, random.between(1, 1'000));
                break;
        }
        INFO("seed " << seed << ", " << name);
        const LayoutDifference at_client = difference_of(client, server);
        CHECK(at_client.aspect == aspect);
        const bool is_of_names = aspect == LayoutAspect::Name;
        CHECK((is_of_names ? at_client.there : at_client.name) == name);
        const LayoutDifference at_server = difference_of(server, client);
        CHECK(to_sentence(at_server) == to_sentence(at_client.from_there()));
        const Logs logs = logs_of(&server, &client);
        CHECK(has_line(logs.client, to_sentence(at_client)));
        CHECK(has_line(logs.server, to_sentence(at_server)));
        // A refusal is repeated for linger_ms, not for ever: a line may be missing, and none errs.
        const Logs lossy = logs_of(&server, &client, 0.3, LayoutPolicy::Refuse, seed);
        for (const std::string& line : lossy.server) {
            CHECK((line.find("has another layout") == std::string::npos ||
                   line.find(to_sentence(at_server)) != std::string::npos));
        }
    }
}

TEST_CASE(
    "Layout difference: equal layouts have none, and bytes that are no explanation are refused",
    "[netdriver][layout_difference][hostile]") {
    const ClassSpec spec = soldier();
    CHECK(difference_of(spec, spec).aspect == LayoutAspect::Other);
    const SpecLayout layout(spec);
    const auto good = explain_layout(*layout, std::pmr::get_default_resource());
    for (std::size_t size = 0; size < good.size(); ++size) {
        CHECK_FALSE(find_layout_difference(*layout, {good.data(), size}));
    }
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        auto bytes = good;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        const auto found = find_layout_difference(*layout, {bytes.data(), bytes.size()});
        if (found) {
            CHECK(to_sentence(*found).size() < 4'096);
        }
    }
}

}  // namespace replayout::test
