// SPDX-License-Identifier: MIT
#include "pawn.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/type_builder.h>

#include <utility>

namespace replayout::bench {

PawnSchema::PawnSchema() {
    const Result<const Type*> type = class_builder<Pawn>(registry_, "Pawn")
                                         .property<&Pawn::px>()
                                         .property<&Pawn::py>()
                                         .property<&Pawn::pz>()
                                         .property<&Pawn::qx>()
                                         .property<&Pawn::qy>()
                                         .property<&Pawn::qz>()
                                         .property<&Pawn::qw>()
                                         .property<&Pawn::vx>()
                                         .property<&Pawn::vy>()
                                         .property<&Pawn::vz>()
                                         .property<&Pawn::health>()
                                         .property<&Pawn::state>()
                                         .property<&Pawn::ammo>()
                                         .property<&Pawn::owner>()
                                         .property<&Pawn::name>()
                                         .build();
    if (!type) {
        error_ = type.error().message;
        return;
    }
    if (const Status status = registry_.freeze(); !status) {
        error_ = status.error().message;
        return;
    }
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry_, **type);
    if (!layout) {
        error_ = layout.error().message;
    } else if ((*layout)->handle_count() != pawn_property_count) {
        error_ = "the class Pawn has not as many handles as it has properties";
    } else {
        layout_ = std::move(*layout);
    }
}

PawnScene::PawnScene(std::uint32_t count, std::uint64_t seed) : pawns_(count), random_state_(seed) {
    REPLAYOUT_ASSERT(count > 0 && count % period_ticks == 0);
    for (Pawn& pawn : pawns_) {
        change_all(pawn);
    }
}

PawnChanges PawnScene::advance() {
    const auto count = static_cast<std::uint32_t>(pawns_.size());
    const std::uint32_t moving_count = count / 5;
    const std::uint32_t hurt_count = count / period_ticks;
    const auto moving = static_cast<std::uint32_t>(tick_ % 5) * moving_count;
    const auto hurt = static_cast<std::uint32_t>(tick_ % period_ticks) * hurt_count;
    for (std::uint32_t i = moving; i < moving + moving_count; ++i) {
        change_transform(pawns_[i]);
    }
    for (std::uint32_t i = hurt; i < hurt + hurt_count; ++i) {
        change_health(pawns_[i]);
    }
    ++tick_;
    // A fifth is a whole number of fiftieths, so the hurt all move or none of them does.
    const bool is_within = hurt >= moving && hurt < moving + moving_count;
    return {moving_count + (is_within ? 0 : hurt_count),
            moving_count * pawn_transform_count + hurt_count};
}

void PawnScene::change_all(Pawn& pawn) {
    change_transform(pawn);
    change_health(pawn);
    pawn.vx = other_float(pawn.vx);
    pawn.vy = other_float(pawn.vy);
    pawn.vz = other_float(pawn.vz);
    pawn.state = static_cast<std::uint8_t>(pawn.state % 200 + 1);
    pawn.ammo = static_cast<std::uint16_t>(pawn.ammo % 30'000 + 1);
    const std::uint32_t owner = random() | 1;
    pawn.owner = owner == pawn.owner ? owner + 2 : owner;
    const std::size_t length = 8 + random() % 9;
    std::string name(length, ' ');
    for (char& letter : name) {
        letter = static_cast<char>('a' + random() % 26);
    }
    // The first letter alternates, so that no name follows itself.
    name.front() = pawn.name.empty() || pawn.name.front() == 'b' ? 'a' : 'b';
    pawn.name = std::move(name);
}

void PawnScene::change_transform(Pawn& pawn) {
    for (float* value : {&pawn.px, &pawn.py, &pawn.pz, &pawn.qx, &pawn.qy, &pawn.qz, &pawn.qw}) {
        *value = other_float(*value);
    }
}

void PawnScene::change_health(Pawn& pawn) {
    pawn.health = pawn.health % 10'000 + 1;
}

// SplitMix64 (Steele, Lea, Flood 2014); the upper half.
std::uint32_t PawnScene::random() {
    random_state_ += 0x9E37'79B9'7F4A'7C15;
    std::uint64_t mixed = random_state_;
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58'476D'1CE4'E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D0'49BB'1331'11EB;
    return static_cast<std::uint32_t>((mixed ^ (mixed >> 31)) >> 32);
}

// Not 0, not `old`, and exact: 24 bits in units of 1/256.
float PawnScene::other_float(float old) {
    const float value = static_cast<float>((random() >> 8) + 1) / 256.0f;
    return value == old ? value + 1.0f : value;
}

}  // namespace replayout::bench
