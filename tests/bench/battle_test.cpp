// SPDX-License-Identifier: MIT
#include "match/battle/battle.h"

#include "match/judge/end_state.h"
#include "match/recording/little_endian.h"
#include "match/recording/trace_reader.h"
#include "support/checks/catch.h"
#include "support/checks/trace_writer.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace {

using namespace replayout::match;
using replayout::testing::crc32_of;
using replayout::testing::encode_trace;
using replayout::testing::gzip;

// What a client of the library is to be confronted with, counted over a battle.
struct Census {
    std::size_t empty_ticks = 0;
    std::size_t equal_times = 0;
    std::size_t lives_within_a_tick = 0;
    std::size_t sets_that_change_nothing = 0;
    std::size_t repeated_in_a_tick = 0;
    // Set twice or more in a tick, and then as it was before the tick.
    std::size_t there_and_back = 0;
    std::size_t references_to_null = 0;
    std::size_t references_to_live = 0;
    std::size_t references_to_coming = 0;
    std::size_t references_to_gone = 0;
    std::size_t strings_over_600 = 0;
    std::size_t strings_over_2000 = 0;
    std::size_t strings_beyond_ascii = 0;
    std::set<FieldType> types;
};

class CensusTaker {
  public:
    explicit CensusTaker(const Recording& recording) : recording_(&recording), state_(recording) {}

    [[nodiscard]] Census take() {
        for (std::size_t tick = 0; tick < recording_->tick_count(); ++tick) {
            tick_head(tick);
            for (const Op& op : recording_->ops_of_tick(tick)) {
                note(op);
                state_.apply(op);
            }
        }
        return census_;
    }

  private:
    using FieldKey = std::pair<std::uint32_t, std::uint16_t>;
    using Value = std::vector<std::byte>;

    void tick_head(std::size_t tick) {
        census_.empty_ticks += recording_->ops_of_tick(tick).empty() ? 1U : 0U;
        if (tick > 0 && recording_->tick_times_s[tick] == recording_->tick_times_s[tick - 1]) {
            ++census_.equal_times;
        }
        spawned_in_tick_.clear();
        before_tick_.clear();
    }

    void note(const Op& op) {
        if (op.kind == OpKind::Spawn) {
            spawned_in_tick_.insert(op.object);
            next_object_ = op.object + 1;
        } else if (op.kind == OpKind::Destroy) {
            census_.lives_within_a_tick += spawned_in_tick_.count(op.object);
        } else {
            note_set(op);
        }
    }

    void note_set(const Op& op) {
        const std::span<const std::byte> bytes = recording_->value(op);
        const Value value(bytes.begin(), bytes.end());
        const SetFields& fields = state_.fields_of(op.object);
        const auto old = fields.find(op.class_or_field);
        const Value before = old == fields.end() ? Value{} : old->second.value;
        census_.sets_that_change_nothing += value == before ? 1U : 0U;

        const auto [entry, is_first] =
            before_tick_.try_emplace(FieldKey{op.object, op.class_or_field}, before);
        census_.repeated_in_a_tick += is_first ? 0U : 1U;
        census_.there_and_back += !is_first && value == entry->second && value != before ? 1U : 0U;

        const ClassInfo& class_info = recording_->classes[state_.class_of(op.object)];
        note_value(class_info.fields[op.class_or_field].type, op);
    }

    void note_value(FieldType type, const Op& op) {
        census_.types.insert(type);
        if (type == FieldType::String) {
            const std::string_view text = recording_->text(op);
            census_.strings_over_600 += text.size() > 600 ? 1U : 0U;
            census_.strings_over_2000 += text.size() > 2000 ? 1U : 0U;
            const bool is_ascii = std::all_of(text.begin(), text.end(), [](char letter) {
                return static_cast<unsigned char>(letter) < 0x80;
            });
            census_.strings_beyond_ascii += is_ascii ? 0U : 1U;
        } else if (type == FieldType::ObjectRef) {
            note_reference(load_le<std::uint32_t>(recording_->value(op)));
        }
    }

    void note_reference(std::uint32_t target) {
        if (target == 0) {
            ++census_.references_to_null;
        } else if (target >= next_object_) {
            ++census_.references_to_coming;
        } else if (state_.is_live(target)) {
            ++census_.references_to_live;
        } else {
            ++census_.references_to_gone;
        }
    }

    const Recording* recording_;
    EndState state_;
    Census census_;
    std::uint32_t next_object_ = 1;
    std::set<std::uint32_t> spawned_in_tick_;
    std::map<FieldKey, Value> before_tick_;
};

}  // namespace

TEST_CASE("Battle: the same bytes with every compiler", "[bench][battle]") {
    const Recording battle = make_battle({.seed = 1, .tick_count = 600, .player_count = 32});
    CHECK(crc32_of(encode_trace(battle)) == 0x5BF77634);
    CHECK(end_state_crc32(battle) == 0xA20AF302);
}

TEST_CASE("Battle: a seed gives one match, another seed another", "[bench][battle]") {
    const BattleSettings settings{.seed = 5, .tick_count = 100, .player_count = 8};
    BattleSettings other = settings;
    other.seed = 6;
    CHECK(make_battle(settings) == make_battle(settings));
    CHECK_FALSE(make_battle(settings) == make_battle(other));
}

TEST_CASE("Battle: keeps every rule of a trace", "[bench][battle]") {
    const BattleSettings settings =
        GENERATE(BattleSettings{1, 300, 32}, BattleSettings{2, 300, 1}, BattleSettings{3, 50, 0},
                 BattleSettings{4, 30, 200}, BattleSettings{5, 1, 32}, BattleSettings{6, 2, 3},
                 BattleSettings{7, 0, 4});
    const Recording battle = make_battle(settings);
    CHECK(battle.tick_count() == settings.tick_count);
    const ReadTraceResult result = read_trace_bytes(gzip(encode_trace(battle)), "battle");
    const auto* read_back = std::get_if<Recording>(&result);
    REQUIRE(read_back != nullptr);
    CHECK(*read_back == battle);
}

TEST_CASE("Battle: has all that makes real matches difficult", "[bench][battle]") {
    const Recording battle = make_battle({.seed = 3, .tick_count = 1200, .player_count = 32});
    const Census census = CensusTaker(battle).take();

    CHECK(census.empty_ticks >= 5);
    CHECK(census.equal_times >= 1);
    CHECK(census.lives_within_a_tick >= 100);
    CHECK(census.sets_that_change_nothing >= 100);
    CHECK(census.repeated_in_a_tick >= 100);
    CHECK(census.there_and_back >= 20);
    CHECK(census.references_to_null >= 20);
    CHECK(census.references_to_live >= 100);
    CHECK(census.references_to_coming >= 20);
    CHECK(census.references_to_gone >= 20);
    CHECK(census.strings_over_600 >= 5);
    CHECK(census.strings_over_2000 >= 2);
    CHECK(census.strings_beyond_ascii >= 50);
    CHECK(census.types.size() == field_type_count);

    const auto by_field_count = [](const ClassInfo& left, const ClassInfo& right) {
        return left.fields.size() < right.fields.size();
    };
    CHECK(std::max_element(battle.classes.begin(), battle.classes.end(), by_field_count)
              ->fields.size() >= 300);
}
