// SPDX-License-Identifier: MIT
//
// One receiver of an object with conditions, where it becomes another one between two packets, and
// where what it may not see is lost, waits or is left out.
#include <replayout/object_replicator.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "support/checks/catch.h"
#include "support/replication/object_peer.h"
#include "support/types/test_layout.h"
#include "support/worlds/guard_post.h"

namespace replayout::test {
namespace {

using Condition = LifetimeCondition;

/// In three parts, with two small values in the first.
struct Gunner {
    std::int32_t ammo = 0;  // InitialOrOwner
    std::int32_t rank = 0;  // InitialOnly
    std::string first;
    std::string second;
    std::string third;
};

[[nodiscard]] Result<const Type*> build_gunner(TypeRegistry& registry) {
    return class_builder<Gunner>(registry, "Gunner")
        .property<&Gunner::ammo>()
        .condition(Condition::InitialOrOwner)
        .property<&Gunner::rank>()
        .condition(Condition::InitialOnly)
        .property<&Gunner::first>()
        .property<&Gunner::second>()
        .property<&Gunner::third>()
        .build();
}

[[nodiscard]] ReplicationFlags owner(bool is_owner) {
    ReplicationFlags flags;
    flags.is_owner = is_owner;
    return flags;
}

/// One wait for each way in which a value can be sent only at first.
struct Dog {
    std::int32_t age = 0;
    GuardLeash leash;         // InitialOnly
    GuardLeash owned_leash;   // InitialOrOwner
    GuardLeash chosen_leash;  // Dynamic
    std::int32_t tag = 0;     // InitialOnly
};

[[nodiscard]] Result<const Type*> build_dog(TypeRegistry& registry) {
    REQUIRE(struct_builder<GuardLeash>(registry, "GuardLeash").build());
    return class_builder<Dog>(registry, "Dog")
        .property<&Dog::age>()
        .property<&Dog::leash>()
        .condition(Condition::InitialOnly)
        .property<&Dog::owned_leash>()
        .condition(Condition::InitialOrOwner)
        .property<&Dog::chosen_leash>()
        .condition(Condition::Dynamic)
        .property<&Dog::tag>()
        .condition(Condition::InitialOnly)
        .build();
}

constexpr ParentIndex dog_chosen_leash{3};

struct Spy {
    std::int32_t age = 0;
    std::int32_t mood = 0;  // Dynamic
    std::string secret;     // OwnerOnly
    std::string orders;     // InitialOnly
};

[[nodiscard]] Result<const Type*> build_spy(TypeRegistry& registry) {
    return class_builder<Spy>(registry, "Spy")
        .property<&Spy::age>()
        .property<&Spy::mood>()
        .condition(Condition::Dynamic)
        .property<&Spy::secret>()
        .condition(Condition::OwnerOnly)
        .property<&Spy::orders>()
        .condition(Condition::InitialOnly)
        .build();
}

constexpr ParentIndex spy_mood{1};

/// A spy and one receiver; texts of more than a packet are allowed.
struct SpyPost {
    [[nodiscard]] static RepLayoutOptions options() {
        RepLayoutOptions options;
        options.limits.string_bytes_max = 8'192;
        return options;
    }

    /// Without large values being taken: they are left out.
    void exchange() {
        sender.update(&spy);
        for (int i = 0; i < 10 && bob.replicator.owes_any(); ++i) {
            (void)bob.send();
        }
        bob.deliver_all();
        REQUIRE_FALSE(bob.replicator.owes_any());
    }

    TestLayout layout{build_spy, options()};
    BlockSender sender{*layout};
    Spy spy;
    ObjectPeer<Spy> bob{sender};
    LogCount log;
};

}  // namespace

TEST_CASE("ObjectReplicator: a new owner is sent what was passed over, a lost part or not",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_gunner);
    BlockSender sender(*layout);
    Gunner gunner{1, 1, std::string(700, 'a'), std::string(700, 'b'), std::string(700, 'c')};
    sender.update(&gunner);
    ObjectPeer<Gunner> bob(sender);
    bob.send_all();
    REQUIRE(bob.packets.size() == 3);
    bob.deliver();
    gunner.ammo = 2;
    gunner.rank = 2;
    sender.update(&gunner);
    bob.send_all();  // no owner, and no more at first
    REQUIRE(bob.packets.size() == 2);
    bob.lose();  // so that something is sent at first once more
    bob.replicator.set_flags(owner(true));
    bob.send_all();
    bob.deliver_all();
    REQUIRE(bob.replicator.is_settled());
    CHECK(bob.object.ammo == 2);
    CHECK(bob.object.rank == 1);  // it arrived, and nobody asks for it anew
    CHECK(bob.object.second == gunner.second);
}

TEST_CASE("ObjectReplicator: a value that is sent only at first may wait for an object, too",
          "[replayout][object_replicator]") {
    const TestLayout layout(build_dog);
    BlockSender sender(*layout);
    sender.state.set_dynamic_condition(dog_chosen_leash, Condition::InitialOnly);
    const ObjectHandle holder{5};
    const NetGUID guid = sender.package_map.guid_of(holder);
    Dog dog;
    dog.leash = {holder, "first"};
    dog.owned_leash = {holder, "first"};
    dog.chosen_leash = {holder, "first"};
    dog.tag = 1;
    sender.update(&dog);
    ObjectPeer<Dog> bob(sender);
    bob.send_all();
    bob.deliver_all();
    REQUIRE(bob.object.leash.holder.is_null());
    REQUIRE(bob.object.leash.tag == "first");
    // Passed over: it is not the time for it.
    dog.leash.tag = "now";
    dog.tag = 2;
    sender.update(&dog);
    bob.send_all();
    REQUIRE(bob.packets.empty());

    bob.map(guid, ObjectHandle{55});
    bob.send_all();
    const bool is_lost = GENERATE(false, true);
    if (is_lost) {
        bob.lose();
        bob.send_all();
    }
    bob.deliver_all();
    CHECK(bob.object.leash.holder == ObjectHandle{55});
    CHECK(bob.object.leash.tag == "now");  // as of what is lost, the value of now goes out
    CHECK(bob.object.owned_leash.holder == ObjectHandle{55});
    CHECK(bob.object.chosen_leash.holder == ObjectHandle{55});
    CHECK(bob.object.tag == 1);  // it did not wait
    CHECK(bob.replicator.is_settled());

    // And that was all: it is as it was before.
    dog.leash.tag = "later";
    sender.update(&dog);
    bob.replicator.object_mapped(guid);
    bob.send_all();
    CHECK(bob.packets.empty());
    CHECK(bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: its shadow knows nothing for certain where a condition was chosen",
          "[replayout][object_replicator]") {
    SpyPost post;
    post.sender.state.set_dynamic_condition(spy_mood, Condition::OwnerOnly);
    post.spy.mood = 5;
    post.spy.age = 1;
    post.exchange();
    REQUIRE(post.bob.replicator.shadow().is_exact());

    post.sender.state.set_dynamic_condition(spy_mood, Condition::None);
    const ConnectionShadow shadow = post.bob.replicator.shadow();
    CHECK_FALSE(shadow.is_exact());
    CHECK(shadow.held(RepHandle{2}).data() == nullptr);
    CHECK(post.bob.replicator.owes_any());
    post.exchange();
    CHECK(post.bob.object.mood == 5);
    CHECK(post.bob.replicator.shadow().is_exact());
    REQUIRE(post.bob.replicator.shadow().held(RepHandle{2}).data() != nullptr);
    CHECK(std::memcmp(post.bob.replicator.shadow().held(RepHandle{2}).data(), &post.spy.mood, 4) ==
          0);
}

TEST_CASE("ObjectReplicator: what was left out is not lacked by who may not see it any more",
          "[replayout][object_replicator]") {
    SpyPost post;
    post.bob.replicator.set_flags(owner(true));
    post.spy.secret.assign(3'000, 's');
    post.exchange();
    CHECK_FALSE(post.bob.replicator.is_settled());

    post.bob.replicator.set_flags(owner(false));
    CHECK(post.bob.replicator.is_settled());
    CHECK(post.bob.replicator.shadow().is_exact());
    post.spy.secret = "small";
    post.spy.age = 2;
    post.exchange();
    CHECK(post.bob.replicator.is_settled());
    CHECK(post.bob.object.secret.empty());

    post.bob.replicator.set_flags(owner(true));
    post.exchange();
    CHECK(post.bob.object.secret == "small");
    CHECK(post.bob.replicator.is_settled());
}

TEST_CASE("ObjectReplicator: what was left out at first is not lacked when that is over",
          "[replayout][object_replicator]") {
    SpyPost post;
    post.spy.orders.assign(3'000, 'o');
    post.spy.age = 1;
    post.exchange();
    CHECK(post.bob.object.age == 1);
    CHECK(post.bob.replicator.is_settled());
    CHECK(post.log.lines > 0);
}

}  // namespace replayout::test
