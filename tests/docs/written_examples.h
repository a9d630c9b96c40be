// SPDX-License-Identifier: MIT
//
// What the worked examples of docs/wire_format.md are collected in, and the class that most of them
// speak of.
#pragma once

#include <replayout/bit_writer.h>
#include <replayout/reflection/reflection.h>
#include <replayout/rep_layout.h>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "docs/documented_examples.h"
#include "support/checks/catch.h"

namespace replayout::written {

using WrittenExamples = std::map<std::string, WrittenExample>;

inline void add(WrittenExamples& examples, const std::string& name,
                const std::function<void(BitWriter&)>& write) {
    std::array<std::byte, 64> buffer{};
    BitWriter writer(buffer);
    write(writer);
    const std::size_t bit_count = writer.bit_count();
    writer.finish_byte();
    REQUIRE(!writer.overflowed());
    examples[name] = {to_bytes(writer.bytes()), bit_count};
}

inline void add(WrittenExamples& examples, const std::string& name, const Bytes& bytes) {
    examples[name] = {bytes, bytes.size() * 8};
}

/// The packets of sections 11, 12 and 16, from sessions of our two ends.
void add_packets(WrittenExamples& examples);

struct Hit {
    float damage = 0.0f;
    std::uint8_t bone = 0;
};

struct Pawn {
    bool is_alive = true;
    std::int32_t health = 100;
    std::string name;
    ObjectHandle target;
    std::vector<Hit> hits;
};

/// The class of the document's examples.
class PawnLayout {
  public:
    /// With an archetype of that health.
    explicit PawnLayout(std::int32_t health = 100) {
        REQUIRE(struct_builder<Hit>(registry_, "Hit")
                    .property<&Hit::damage>()
                    .property<&Hit::bone>()
                    .build());
        const auto pawn = class_builder<Pawn>(registry_, "Pawn")
                              .property<&Pawn::is_alive>()
                              .property<&Pawn::health>()
                              .property<&Pawn::name>()
                              .property<&Pawn::target>()
                              .property<&Pawn::hits>()
                              .build();
        REQUIRE(pawn);
        REQUIRE(registry_.freeze());
        Pawn archetype;
        archetype.health = health;
        RepLayoutOptions options;
        options.archetype = &archetype;
        auto layout = RepLayout::create(registry_, **pawn, options);
        REQUIRE(layout);
        layout_ = std::move(*layout);
    }
    [[nodiscard]] const RepLayout& operator*() const { return *layout_; }

  private:
    TypeRegistry registry_;
    std::unique_ptr<RepLayout> layout_;
};

}  // namespace replayout::written
