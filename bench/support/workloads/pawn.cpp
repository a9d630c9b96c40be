// SPDX-License-Identifier: MIT
#include "support/workloads/pawn.h"

#include <replayout/reflection/diagnostics.h>
#include <replayout/reflection/type_builder.h>

#include <utility>

namespace replayout::bench {

namespace {

template <auto Member>
void declare(TypeBuilder<Pawn>& pawn, bool is_push_based) {
    auto property = pawn.property<Member>();
    if (is_push_based) {
        property.push_based();
    }
}

template <auto... Members>
void declare_all(TypeBuilder<Pawn>& pawn, bool is_push_based) {
    (declare<Members>(pawn, is_push_based), ...);
}

[[nodiscard]] Result<const Type*> declare_class(TypeRegistry& registry, bool is_push_based) {
    TypeBuilder<Pawn> pawn = class_builder<Pawn>(registry, "Pawn");
    declare_all<&Pawn::px, &Pawn::py, &Pawn::pz, &Pawn::qx, &Pawn::qy, &Pawn::qz, &Pawn::qw,
                &Pawn::vx, &Pawn::vy, &Pawn::vz, &Pawn::health, &Pawn::state, &Pawn::ammo,
                &Pawn::owner, &Pawn::name>(pawn, is_push_based);
    return pawn.build();
}

}  // namespace

Result<const Type*> declare_pawn(TypeRegistry& registry) {
    return declare_class(registry, false);
}

Result<const Type*> declare_push_based_pawn(TypeRegistry& registry) {
    return declare_class(registry, true);
}

PawnScene::PawnScene(std::uint32_t count, std::uint64_t seed) : pawns_(count), random_state_(seed) {
    REPLAYOUT_ASSERT(count > 0 && count % period_ticks == 0);
    changed_.reserve(count);
    set_usual_changes();
    for (Pawn& pawn : pawns_) {
        change_all(pawn);
    }
}

void PawnScene::set_moving_count(std::uint32_t moving_count) {
    REPLAYOUT_ASSERT(moving_count == 0 || pawns_.size() % moving_count == 0);
    moving_count_ = moving_count;
    hurt_count_ = 0;
}

void PawnScene::set_usual_changes() {
    const auto count = static_cast<std::uint32_t>(pawns_.size());
    moving_count_ = count / 5;
    hurt_count_ = count / period_ticks;
}

// So many, one behind the other, and from the first one again behind the last.
PawnRange PawnScene::in_turn(std::uint32_t count) const noexcept {
    if (count == 0) {
        return {};
    }
    return {static_cast<std::uint32_t>(tick_ % (pawns_.size() / count)) * count, count};
}

PawnChanges PawnScene::advance() {
    moved_ = in_turn(moving_count_);
    hurt_ = in_turn(hurt_count_);
    for (std::uint32_t i = moved_.first; i < moved_.end(); ++i) {
        change_transform(pawns_[i]);
    }
    for (std::uint32_t i = hurt_.first; i < hurt_.end(); ++i) {
        change_health(pawns_[i]);
    }
    ++tick_;
    // A fifth is a whole number of fiftieths, so the hurt all move or none of them does.
    changed_.clear();
    note_changed(hurt_.first < moved_.first ? hurt_ : PawnRange{});
    note_changed(moved_);
    note_changed(hurt_.first >= moved_.end() ? hurt_ : PawnRange{});
    return {changed_.size(), std::uint64_t{moving_count_} * pawn_transform_count + hurt_count_};
}

void PawnScene::note_changed(PawnRange range) {
    for (std::uint32_t i = range.first; i < range.end(); ++i) {
        changed_.push_back(i);
    }
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
