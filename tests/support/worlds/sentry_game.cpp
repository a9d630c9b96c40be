// SPDX-License-Identifier: MIT
#include "support/worlds/sentry_game.h"

#include <cstddef>

namespace replayout::test {

namespace {

[[nodiscard]] ClassGameOptions class_options(const SentryGameOptions& options) {
    ClassGameOptions result;
    result.link = options.link;
    result.seed = options.seed;
    result.sharing = sharing_level(options.is_sharing);
    result.layout.limits.string_bytes_max = 1u << 16;
    return result;
}

}  // namespace

Result<const Type*> build_sentry(TypeRegistry& registry) {
    DynamicTypeBuilder builder(registry, TypeKind::Class, "Sentry", sizeof(Sentry),
                               alignof(Sentry));
    for (std::size_t i = 0; i + 1 < lifetime_condition_count; ++i) {
        const auto condition = static_cast<LifetimeCondition>(i);
        builder.property(to_string(condition), PropertyKind::Int32,
                         static_cast<std::uint32_t>(i * sizeof(std::int32_t)));
        builder.condition(condition);
    }
    builder.property(string_property<std::string>("secret", offsetof(Sentry, secret)))
        .condition(LifetimeCondition::OwnerOnly);
    builder.property(string_property<std::string>("log", offsetof(Sentry, log)));
    builder.property(string_property<std::string>("report", offsetof(Sentry, report)))
        .ops(make_class_ops<Sentry>());
    return builder.build();
}

SentryGame::SentryGame(const SentryGameOptions& options)
    : ClassGame<Sentry>(build_sentry, class_options(options)) {}

}  // namespace replayout::test
