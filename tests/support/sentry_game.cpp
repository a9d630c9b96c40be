// SPDX-License-Identifier: MIT
#include "support/sentry_game.h"

#include "support/catch.h"

namespace replayout::test {

namespace {

constexpr PeerId server_peer{1};
constexpr std::int64_t tick_ms = 20;

[[nodiscard]] SimulatedNetworkSettings network_settings(const LinkSettings& link) {
    SimulatedNetworkSettings settings;
    settings.link = link;
    settings.datagram_bytes_max = 1'400;
    return settings;
}

[[nodiscard]] std::unique_ptr<RepLayout> make_layout(TypeRegistry& registry) {
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Sentry", sizeof(Sentry),
                               alignof(Sentry));
    for (std::size_t i = 0; i + 1 < lifetime_condition_count; ++i) {
        const auto condition = static_cast<LifetimeCondition>(i);
        builder.property(to_string(condition), PropertyKind::Int32,
                         static_cast<std::uint32_t>(i * sizeof(std::int32_t)));
        builder.condition(condition);
    }
    builder.property(string_property<std::string>("secret", offsetof(Sentry, secret)))
        .condition(LifetimeCondition::OwnerOnly)
        .ops(make_class_ops<Sentry>());
    const Result<const Type*> type = builder.build();
    REQUIRE(type);
    REQUIRE(registry.freeze());
    RepLayoutOptions options;
    options.limits.string_bytes_max = 1u << 16;
    Result<std::unique_ptr<RepLayout>> layout = RepLayout::create(registry, **type, options);
    REQUIRE(layout);
    return std::move(*layout);
}

}  // namespace

class SentryGame::World final : public NetWorld {
  public:
    explicit World(std::uint64_t first_handle) : next_handle_(first_handle) {}

    ObjectHandle add() {
        const ObjectHandle handle{next_handle_++};
        sentries_[handle] = std::make_unique<Sentry>();
        return handle;
    }
    [[nodiscard]] Sentry& at(ObjectHandle handle) { return *sentries_.at(handle); }

    void* object_memory(ObjectHandle object) override { return sentries_.at(object).get(); }
    ObjectHandle spawn(const SpawnInfo&) override { return add(); }
    void despawn(ObjectHandle object) override { sentries_.erase(object); }

  private:
    std::map<ObjectHandle, std::unique_ptr<Sentry>> sentries_;
    std::uint64_t next_handle_;
};

struct SentryGame::Host {
    Host(const NetDriverSettings& settings, Transport& transport, const RepLayout& layout,
         std::uint64_t first_handle)
        : world(first_handle), driver(settings, transport, world) {
        REQUIRE(driver.add_layout(layout));
    }

    World world;
    NetDriver driver;
};

SentryGame::SentryGame(const SentryGameOptions& options)
    : options_(options),
      layout_(make_layout(registry_)),
      network_(network_settings(options.link), options.seed, std::pmr::get_default_resource()),
      now_(NetTime::from_milliseconds(1'000)) {
    NetDriverSettings settings;
    settings.seed = options.seed;
    settings.is_sharing = options.is_sharing;
    server_ = std::make_unique<Host>(settings, network_.endpoint(server_peer), *layout_, 1'000);
    REQUIRE(server_->driver.listen());
}

SentryGame::~SentryGame() = default;

NetDriver& SentryGame::driver() {
    return server_->driver;
}

std::size_t SentryGame::join() {
    const std::size_t client = clients_.size();
    NetDriverSettings settings;
    settings.seed = options_.seed + client + 1;
    clients_.push_back(
        std::make_unique<Host>(settings, network_.endpoint(peer_of(client)), *layout_, 1'000'000));
    REQUIRE(clients_.back()->driver.connect(server_peer, now_));
    return client;
}

ObjectHandle SentryGame::add() {
    const ObjectHandle handle = server_->world.add();
    ids_[handle] = server_->driver.add_object(*layout_, handle);
    return handle;
}

Sentry& SentryGame::sentry(ObjectHandle sentry) {
    return server_->world.at(sentry);
}

std::int32_t& SentryGame::value(ObjectHandle sentry, LifetimeCondition condition) {
    return this->sentry(sentry).values[static_cast<std::size_t>(condition)];
}

const Sentry& SentryGame::sentry_on(std::size_t client, ObjectHandle sentry) {
    Host& host = *clients_[client];
    const ObjectHandle found =
        host.driver.guids().find_object(server_->driver.guid_of(id_of(sentry)));
    REQUIRE_FALSE(found.is_null());
    return host.world.at(found);
}

std::int32_t SentryGame::value_on(std::size_t client, ObjectHandle sentry,
                                  LifetimeCondition condition) {
    return sentry_on(client, sentry).values[static_cast<std::size_t>(condition)];
}

void SentryGame::tick() {
    now_ = now_.plus_milliseconds(tick_ms);
    network_.advance(now_);
    server_->driver.tick_dispatch(now_);
    server_->driver.tick_flush(now_);
    for (const auto& client : clients_) {
        client->driver.tick_dispatch(now_);
        client->driver.tick_flush(now_);
    }
}

bool SentryGame::settle() {
    for (int i = 0; i < 2'000; ++i) {
        tick();
        const bool has_joined = driver().connection_count() == clients_.size();
        if (has_joined && driver().is_settled()) {
            return true;
        }
    }
    return false;
}

}  // namespace replayout::test
