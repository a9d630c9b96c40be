// SPDX-License-Identifier: MIT
//
// What a client may not see is in none of its packets: each is searched, bit by bit, for values
// that say whose they are. An object that is hidden after it was called goes after its calls: with
// them go values that the client saw when it was hidden, and none that are newer.
#include <replayout/netdriver/net_driver.h>
#include <replayout/netdriver/net_rates.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/checks/catch.h"
#include "support/checks/marked_bytes.h"
#include "support/checks/run_seed.h"
#include "support/checks/seeded_random.h"
#include "support/types/random_rates.h"
#include "support/worlds/class_game.h"

namespace replayout::test::secrecy_test {
namespace {

struct Note {
    std::uint64_t mark = 0;
    std::string text;
};

struct Vault {
    std::uint64_t everyones = 0;
    std::uint64_t owners = 0;  // OwnerOnly
    std::uint64_t others = 0;  // SkipOwner
    std::string chosen;        // Dynamic
    std::string text;
    std::string owners_text;  // OwnerOnly

    void client_tell(const Note&) {}
    void multicast_boom(const Note&) {}
};

[[nodiscard]] Result<const Type*> build_vault(TypeRegistry& registry) {
    using F = FunctionFlags;
    (void)struct_builder<Note>(registry, "Note")
        .property<&Note::mark>()
        .property<&Note::text>()
        .build();
    return class_builder<Vault>(registry, "Vault")
        .property<&Vault::everyones>()
        .property<&Vault::owners>()
        .condition(LifetimeCondition::OwnerOnly)
        .property<&Vault::others>()
        .condition(LifetimeCondition::SkipOwner)
        .property<&Vault::chosen>()
        .condition(LifetimeCondition::Dynamic)
        .property<&Vault::text>()
        .property<&Vault::owners_text>()
        .condition(LifetimeCondition::OwnerOnly)
        .function<&Vault::client_tell>(F::Client | F::Reliable)
        .function<&Vault::multicast_boom>(F::Multicast | F::Reliable)
        .build();
}

/// What a mark is of.
enum class Kind : std::uint8_t { Everyones, Owners, Others, Chosen, Text, OwnersText, Tell, Boom };
constexpr std::size_t kind_count = 8;

/// Sent again as it was when it is lost, also to who may not hear the next one.
[[nodiscard]] constexpr bool is_call(Kind kind) noexcept {
    return kind == Kind::Tell || kind == Kind::Boom;
}

using VaultGame = ClassGame<Vault>;

/// Vaults, and parts of them, that change their owners, conditions and who sees them, all the time.
class SecretGame {
  public:
    explicit SecretGame(std::uint64_t seed)
        : random_(seed), rates_(seed), game_(build_vault, options(seed, rates_)) {
        for (std::size_t client = 0; client < 3; ++client) {
            game_.join();
        }
        for (int i = 0; i < 6; ++i) {
            const ObjectHandle whole = game_.add();
            add(whole, vaults_.size(), LifetimeCondition::None);
            const std::size_t outer = vaults_.size() - 1;
            SubobjectParameters parameters;
            parameters.condition =
                i % 2 == 0 ? LifetimeCondition::OwnerOnly : LifetimeCondition::SkipOwner;
            add(game_.add_part(whole, parameters), outer, parameters.condition);
        }
        REQUIRE(game_.settle());
        game_.server_transport().is_recording = true;
    }

    void play(std::uint32_t ticks) {
        for (std::uint32_t i = 0; i < ticks; ++i) {
            ++tick_;
            if (tick_ == ticks / 2) {
                game_.join();
            }
            game_.server_transport().sent.clear();
            game_.server_transport().received.clear();
            game_.tick([this] {
                for (std::uint32_t n = random_.below(12); n > 0; --n) {
                    act(random_.below(static_cast<std::uint32_t>(vaults_.size())));
                }
            });
            note_who_sees();
            search();
        }
    }

    std::array<std::uint64_t, kind_count> found{};  ///< in packets

  private:
    struct Hide {
        std::uint32_t tick = 0;
        std::array<bool, kind_count> was_seen{};
    };
    struct VaultState {
        ObjectHandle object;
        std::size_t whole = 0;                                  ///< itself, or what it is a part of
        LifetimeCondition condition = LifetimeCondition::None;  ///< of the part
        LifetimeCondition chosen = LifetimeCondition::None;
        // Of a whole.
        std::optional<PeerId> owner;
        std::map<PeerId, bool> said;
        /// What a client saw when it was hidden, as long as its channel may be open for calls.
        std::map<PeerId, std::vector<Hide>> hides;
        std::map<PeerId, bool> was_shown;
        /// The last tick in which a client saw it, by kind.
        std::map<PeerId, std::array<std::uint32_t, kind_count>> seen;
    };

    [[nodiscard]] static ClassGameOptions options(std::uint64_t seed, RandomRates& rates) {
        ClassGameOptions options;
        options.seed = seed;
        options.config = rates.with_caps({});
        options.config.packet_bytes_max = seed % 2 == 0 ? 256 : 1'200;
        options.config.timeout_ms = 60'000;
        options.sharing = sharing_level(seed % 3 != 0);
        options.link.loss = 0.2;
        options.link.duplicate = 0.05;
        options.link.reorder = 0.1;
        options.link.latency_ms = 30;
        return options;
    }
    void add(ObjectHandle object, std::size_t whole, LifetimeCondition condition) {
        VaultState state;
        state.object = object;
        state.whole = whole;
        state.condition = condition;
        vaults_.push_back(state);
        if (whole + 1 == vaults_.size()) {
            rates_.set_object(driver().rates(), game_.id_of(object));
        }
    }

    [[nodiscard]] bool passes(LifetimeCondition condition, PeerId peer,
                              const VaultState& vault) const {
        const bool is_owner = vaults_[vault.whole].owner == peer;
        switch (condition) {
            case LifetimeCondition::OwnerOnly:
                return is_owner;
            case LifetimeCondition::SkipOwner:
                return !is_owner;
            case LifetimeCondition::Never:
                return false;
            default:
                return true;
        }
    }
    [[nodiscard]] bool may_see(PeerId peer, const VaultState& vault, Kind kind) const {
        const auto& said = vaults_[vault.whole].said;
        const auto word = said.find(peer);
        if ((word != said.end() && !word->second) || !passes(vault.condition, peer, vault)) {
            return false;
        }
        switch (kind) {
            case Kind::Owners:
            case Kind::OwnersText:
            case Kind::Tell:
                return passes(LifetimeCondition::OwnerOnly, peer, vault);
            case Kind::Others:
                return passes(LifetimeCondition::SkipOwner, peer, vault);
            case Kind::Chosen:
                return passes(vault.chosen, peer, vault);
            default:
                return true;
        }
    }
    [[nodiscard]] MarkedValue mark(std::size_t index, Kind kind) const {
        return {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(kind), tick_};
    }

    [[nodiscard]] bool is_shown(PeerId peer, const VaultState& vault) const {
        return may_see(peer, vault, Kind::Everyones);
    }

    void act(std::size_t index) {
        note_who_sees();
        act_on(index);
        note_who_is_hidden();
    }
    void note_who_is_hidden() {
        for (VaultState& vault : vaults_) {
            for (std::size_t client = 0; client < game_.client_count(); ++client) {
                const PeerId peer = VaultGame::peer_of(client);
                const bool was_shown = std::exchange(vault.was_shown[peer], is_shown(peer, vault));
                if (was_shown && !vault.was_shown[peer]) {
                    Hide& hide = vault.hides[peer].emplace_back();
                    hide.tick = tick_;
                    for (std::size_t kind = 0; kind < kind_count; ++kind) {
                        hide.was_seen[kind] = vault.seen[peer][kind] == tick_;
                    }
                }
            }
        }
    }
    /// It goes with a call of an object that was hidden, and the client saw it then.
    [[nodiscard]] bool is_as_hidden(PeerId peer, const MarkedValue& value) {
        VaultState& vault = vaults_.at(value.object);
        if (driver().connection_shadow(peer, game_.id_of(vault.object)).has_value()) {
            vault.hides[peer].clear();  // it was opened since
        }
        const std::vector<Hide>& hides = vault.hides[peer];
        return std::any_of(hides.begin(), hides.end(), [&](const Hide& hide) {
            return hide.was_seen[value.kind] && value.tick <= hide.tick;
        });
    }
    [[nodiscard]] std::uint32_t seen_by(PeerId peer, const MarkedValue& value) {
        return vaults_.at(value.object).seen[peer].at(value.kind);
    }

    void act_on(std::size_t index) {
        VaultState& vault = vaults_[index];
        VaultState& whole = vaults_[vault.whole];
        const NetObjectId whole_id = game_.id_of(whole.object);
        const PeerId peer = VaultGame::peer_of(random_.below(4));
        rates_.maybe_change(driver().rates(), peer, whole_id);
        switch (random_.below(16)) {
            case 0:
                whole.owner = peer;
                driver().set_owner(whole_id, peer);
                break;
            case 1:
                whole.owner.reset();
                driver().clear_owner(whole_id);
                break;
            case 2:
            case 3:
                if (driver().connection_state(peer) == ConnectionState::Joined) {
                    whole.said[peer] = random_.percent(60);
                    driver().interest().set_relevant_for(peer, whole_id, whole.said[peer]);
                }
                break;
            case 4: {
                constexpr LifetimeCondition conditions[] = {
                    LifetimeCondition::None, LifetimeCondition::OwnerOnly,
                    LifetimeCondition::SkipOwner, LifetimeCondition::Never};
                vault.chosen = random_.pick(conditions);
                driver().set_dynamic_condition(game_.id_of(vault.object), "chosen", vault.chosen);
                break;
            }
            case 5:
                driver().set_dormancy(
                    whole_id, random_.percent(50) ? NetDormancy::DormantAll : NetDormancy::Awake);
                break;
            case 6:
                driver().flush_dormancy(whole_id);
                break;
            case 7:
                call(index, Kind::Tell, "client_tell");
                break;
            case 8:
                call(index, Kind::Boom, "multicast_boom");
                break;
            default:
                change(index);
                break;
        }
    }
    void change(std::size_t index) {
        Vault& vault = game_.object(vaults_[index].object);
        vault.everyones = mark(index, Kind::Everyones).bits();
        vault.owners = mark(index, Kind::Owners).bits();
        vault.others = mark(index, Kind::Others).bits();
        vault.chosen =
            mark(index, Kind::Chosen).text(random_.percent(20) ? random_.between(1, 120) : 1);
        if (random_.percent(20)) {
            vault.text = mark(index, Kind::Text).text(random_.between(1, 120));
            vault.owners_text = mark(index, Kind::OwnersText).text(random_.between(1, 120));
        }
    }
    /// Goes to whom it goes now, whoever owns the object when it is sent.
    void call(std::size_t index, Kind kind, const char* function) {
        const Note note{mark(index, kind).bits(), mark(index, kind).text(random_.below(100))};
        note_who_sees(index, kind);
        (void)driver().call_function(game_.id_of(vaults_[index].object), function, &note);
    }

    void note_who_sees(std::size_t index, Kind kind) {
        for (std::size_t client = 0; client < game_.client_count(); ++client) {
            const PeerId peer = VaultGame::peer_of(client);
            if (may_see(peer, vaults_[index], kind)) {
                vaults_[index].seen[peer][static_cast<std::size_t>(kind)] = tick_;
            }
        }
    }
    void note_who_sees() {
        for (std::size_t index = 0; index < vaults_.size(); ++index) {
            for (std::size_t kind = 0; kind < kind_count; ++kind) {
                note_who_sees(index, static_cast<Kind>(kind));
            }
        }
    }
    void search() {
        for (const Datagram& datagram : game_.server_transport().sent) {
            for_each_marked(datagram.bytes, [&](const MarkedValue& value) {
                const Kind kind = static_cast<Kind>(value.kind);
                const std::uint32_t seen = seen_by(datagram.peer, value);
                ++found.at(value.kind);
                const bool is_past = seen < (is_call(kind) ? value.tick : tick_);
                if (is_past && !is_as_hidden(datagram.peer, value)) {
                    FAIL("vault " << value.object << ", kind " << value.kind << " of tick "
                                  << value.tick << " in a packet of tick " << tick_ << " to peer "
                                  << datagram.peer.value << ", who saw it in tick " << seen);
                }
            });
        }
    }
    [[nodiscard]] NetDriver& driver() { return game_.driver(); }

    SeededRandom random_;
    RandomRates rates_;
    VaultGame game_;
    std::vector<VaultState> vaults_;
    std::uint32_t tick_ = 0;
};

}  // namespace

TEST_CASE("Secrecy: what a client may not see is in none of its packets, whatever is lost",
          "[netdriver][interest][conditions][random]") {
    const SeedRange seeds = seed_range(run_seed() % 1'000'000 + 1, 12);
    std::array<std::uint64_t, kind_count> found{};
    for (const std::uint64_t seed : seeds) {
        INFO("REPLAYOUT_SEED=" << seed);
        SecretGame game(seed);
        game.play(400);
        for (std::size_t kind = 0; kind < kind_count; ++kind) {
            found[kind] += game.found[kind];
        }
    }
    for (const std::uint64_t count : found) {
        CHECK(count > 10 * seeds.count);  // the search does find what is there
    }
}

TEST_CASE("Secrecy: marks are found at any bit", "[netdriver]") {
    const MarkedValue value{13, 6, 1'999};
    CHECK(MarkedValue::is_marked(value.bits()));
    for (std::uint32_t shift = 0; shift < 24; ++shift) {
        Bytes bytes(12);
        for (std::uint32_t bit = 0; bit < 64; ++bit) {
            if ((value.bits() >> bit & 1) != 0) {
                bytes[(bit + shift) / 8] |= std::byte{1} << ((bit + shift) % 8);
            }
        }
        std::uint32_t found_count = 0;
        for_each_marked(bytes, [&](const MarkedValue& found) {
            ++found_count;
            CHECK(found.object == value.object);
            CHECK(found.kind == value.kind);
            CHECK(found.tick == value.tick);
        });
        CHECK(found_count == 1);
    }
}

}  // namespace replayout::test::secrecy_test
